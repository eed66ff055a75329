"""A recipe, and its settings of tools and samples: what a build makes, and from what.

The rules are in rules.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    JsonValue,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticKnownError, PydanticOmit

from callwright.flows.plugins import Extension, add_from_file
from callwright.flows.recipe.own_words import (
    ExampleFile,
    OwnValueList,
    RecipePart,
    Scalar,
    value_source,
)
from callwright.flows.recipe.rules import (
    LANDED_GRADES,
    AcceptanceRules,
    Candidate,
    Checks,
    LandedGrade,
    PromptFile,
    ReaderRules,
    ReviewRules,
    Roles,
    Schedule,
    Share,
    SystemMessage,
    text_as,
)
from callwright.generators.catalogs.choosing import SentencePaths, ToolChoice
from callwright.generators.catalogs.python_tools import OWN, tool_from
from callwright.generators.environments.protocol import EnvironmentSettings, settings_of_world
from callwright.generators.imports.reading import SOURCES
from callwright.generators.kinds import all_kinds, brought_along, kind_named
from callwright.generators.stages import Consistency, Wording
from callwright.generators.toolset.sketches import load_categories
from callwright.generators.voices import draw_personas
from callwright.language.packs import of
from callwright.llm.models import ModelSettings, read_model, reads_language
from callwright.llm.tool_sentences import SentenceFile
from callwright.validators.overlap import LIKENESS, Common
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language, Policy, Tool

_PREVIEW_CATEGORIES = 4
_PREVIEW_SOURCES = 4  # source samples for each previewed one: not all of them can be transformed
_SHOWN_EXAMPLES = 12  # in one prompt


class SeedTools(RecipePart):
    """Tools of the built-in catalog: of some categories, or all."""

    seed: Literal["all"] | tuple[str, ...] = Field(
        default="all", description="Categories of the built-in catalog, or all."
    )
    sentences: SentencePaths = ()


class ImportedTools(ToolChoice):
    """Tools of a file, a folder or several files, or some of them; paths relative to the recipe."""

    format: str = Field(alias="import", description="The format of the file or folder.")
    path: Path | tuple[Path, ...] = Field(
        description="The file or folder to read tools from, or several, relative to the recipe."
    )
    sentences: SentencePaths = ()


class CatalogTools(ToolChoice):
    """Tools of a catalog in the warehouse (`callwright tools import … --name`), or some of them."""

    catalog: str = Field(
        description=(
            "The name of a catalog in the warehouse, as it was given to `callwright tools import`."
        )
    )
    sentences: SentencePaths = ()


class GeneratedTools(RecipePart):
    """Tools made for the build, per category and language of the recipe (HammerBench 4.2)."""

    generate: Literal["all"] | tuple[str, ...] = Field(
        description="Categories to make tools for, or all."
    )
    tools_per_category: int = Field(
        default=12,
        ge=1,
        le=60,
        description="How many tools are made for each category and language.",
    )
    sentences: SentencePaths = ()

    def with_preview(self) -> "GeneratedTools":
        """Return a copy with as many categories as a preview needs."""
        names = [one.name for one in load_categories()] if self.generate == "all" else self.generate
        return self.model_copy(update={"generate": tuple(names[:_PREVIEW_CATEGORIES])})


class DomainTools(RecipePart):
    """Built-in catalogs of whole business domains, each with 100 tools or more (CallNavi 4.1)."""

    domains: Literal["all"] | tuple[str, ...] = Field(
        description="Business domains whose catalogs are used as a whole, or all."
    )
    sentences: SentencePaths = ()


class StatedTool(RecipePart):
    """A tool written in a recipe: these settings, or OpenAI's {type: function, function: {...}}."""

    name: str = Field(description="The tool's name.")
    description: str = Field(default="", description="What it does.")
    parameters: dict[str, JsonValue] = Field(
        default_factory=dict, description="The JSON Schema of its parameters."
    )
    returns: dict[str, JsonValue] | None = Field(
        default=None, description="The JSON Schema of what it returns."
    )
    category: str = Field(default=OWN, description="The category of the tool.")


@contextmanager
def _as_invalid() -> Iterator[None]:
    """Turn a ConfigurationError into the ValueError that pydantic reports with its place."""
    try:
        yield
    except ConfigurationError as error:
        raise ValueError(str(error)) from error


def _own_tool(source: object) -> Tool:
    with _as_invalid():
        return tool_from(source)  # type: ignore[arg-type] # whatever else it is, is refused there


OwnTool = Annotated[
    Tool, BeforeValidator(_own_tool, json_schema_input_type=StatedTool | dict[str, JsonValue])
]


class OwnTools(RecipePart):
    """Tools written in the recipe itself; in Python also functions and pydantic models."""

    own: tuple[OwnTool, ...] = Field(
        min_length=1, description="Tools, each with name, description and parameters."
    )
    sentences: SentencePaths = ()


ToolSource = (
    SeedTools
    | ImportedTools
    | CatalogTools
    | GeneratedTools
    | DomainTools
    | EnvironmentSettings
    | OwnTools
)


def _world(stated: object) -> object:
    """Return the settings of a plug-in's world in its own class, other sources as they are."""
    return (settings_of_world(stated) if isinstance(stated, dict) else None) or stated


def _on_or_off(stated: object) -> object:
    """Return `on` and `off`, which YAML reads as true and false, as words; a word in lower case."""
    if isinstance(stated, bool):
        return "on" if stated else "off"
    return stated.lower() if isinstance(stated, str) else stated


class PersonalDataRules(RecipePart):
    """Whether personal data in files is replaced or only counted."""

    mode: Annotated[
        Literal["off", "on", "report"],
        BeforeValidator(_on_or_off, json_schema_input_type=Literal["off", "on", "report"]),
    ] = Field(default="off", description="off, on (replace it) or report (only count it).")
    vault: Path | None = Field(
        default=None,
        description=(
            "A file that records what was replaced by what, relative to the recipe. Default: none."
        ),
    )

    @model_validator(mode="after")
    def _is_replaced(self) -> Self:
        if self.vault is not None and self.mode != "on":
            raise ValueError("a vault records what was replaced, so it needs mode: 'on'")
        return self


def _personal_data(stated: object) -> object:
    return {"mode": stated} if isinstance(stated, str | bool) else stated


PersonalData = Annotated[
    PersonalDataRules,
    BeforeValidator(
        _personal_data, json_schema_input_type=Literal["off", "on", "report"] | PersonalDataRules
    ),
]


class SampleFiles(RecipePart):
    """A file or folder of samples, or several, of one format; paths are relative to the recipe."""

    path: Path | tuple[Path, ...] = Field(
        alias="from",
        description="The file or folder to read samples from, or several, relative to the recipe.",
    )
    format: str = Field(description="The format of the file or folder.")

    @field_validator("format")
    @classmethod
    def _is_known(cls, name: str) -> str:
        with _as_invalid():
            return SOURCES.named(name).name

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files and folders."""
        return (self.path,) if isinstance(self.path, Path) else self.path


class AvoidedSource(SampleFiles):
    """Another data set that the build must not repeat."""

    by: tuple[Common, ...] = Field(
        default=("call", "request"),
        min_length=1,
        description=(
            "What counts as a repetition: call (the same call), request (the same request, in"
            " other words too) or tool (the same tool)."
        ),
    )
    likeness: Share = Field(
        default=LIKENESS,
        description="The likeness from which two requests count as the same, from 0 to 1.",
    )


Stratum = Literal["tool", "outcome", "error", "feedback"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)


class SampleSource(SampleFiles):
    """Existing conversations to take samples from."""

    rows: int | None = Field(
        default=None, ge=1, description="The most records to read. Default: all."
    )
    take: int | None = Field(
        default=None,
        ge=1,
        description=("How many of the samples to take; they are chosen to differ. Default: all."),
    )
    by: tuple[Stratum, ...] = Field(
        default=STRATA, description=f"What the taken samples are spread over: {', '.join(STRATA)}."
    )

    def with_at_most(self, rows: int) -> "SampleSource":
        """Return a copy that reads at most `rows` records."""
        return self.model_copy(update={"rows": min(rows, self.rows or rows)})


def _counts(stated: object) -> object:
    """Return the counts of a list that also names files; the counts of a repeated kind add up.

    Anything but a list is returned as it is. Raises ValueError for other entries.
    """
    if not isinstance(stated, list):
        return stated
    counts: dict[str, int] = {}
    for entry in stated:
        if not isinstance(entry, dict):
            raise ValueError(
                "must be counts by kind, such as {perfect: 200}, or a list of counts and of"
                " {from: FILE, format: FORMAT}"
            )
        for name, count in () if _is_source(entry) else entry.items():
            counts[name] = count if name not in counts else counts[name] + count
    return counts


def _is_source(entry: object) -> bool:
    return isinstance(entry, dict) and bool(entry.keys() & {"from", "format"})


def _source(entry: object) -> object:
    """Return an entry of `samples` that is taken from files; omit counts."""
    if isinstance(entry, SampleSource) or _is_source(entry):
        return entry
    raise PydanticOmit


def _listed(stated: object) -> object:
    return stated if isinstance(stated, list | tuple) else ()


TakenSources = Annotated[
    tuple[Annotated[SampleSource, BeforeValidator(_source)], ...], BeforeValidator(_listed)
]


def _extension(value: object) -> object:
    if isinstance(value, str) and value.count(":"):
        file, _, name = value.rpartition(":")
        return {"file": file, "name": name}
    return value


MOST_VOICES = 10_000
_NO_TOOLS: tuple[ToolSource, ...] = ()
SpokenWay = Annotated[str, Field(min_length=1, max_length=300)]
Personas = (
    Annotated[int, Field(ge=1, le=MOST_VOICES)]
    | Annotated[tuple[SpokenWay, ...], Field(max_length=MOST_VOICES)]
)


class Recipe(RecipePart):
    """A build: what is made, from which tools, by which models, under which rules.

    - `samples` counts each kind over all languages, and may name files to take samples from, which
      become `sources`. Kinds that others are made from are added (`brought`).
    - `variants` of each multi-step goal are made (ComplexFuncBench 2.1.3).
    - Tasks play in as many `worlds`; the ids, names and amounts of each are drawn from its seed.
    - `land` is the weakest grade that lands without review: "proved" by rules alone, or "judged" by
      rules or a blind reading.
    - `trial` builds are left out of a release unless it names them.
    """

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9_-]*$",
        description="The name in tables and releases: lower-case letters, digits, - and _.",
    )
    description: str = Field(default="", description="A description for people.")
    seed: int = Field(default=0, description="The seed of everything that is drawn.")
    # The files under `samples`. The recipe needs no tools of its own if these bring some.
    sources: SkipJsonSchema[TakenSources] = Field(
        default=(), validation_alias=AliasChoices("sources", "samples")
    )
    tools: tuple[Annotated[ToolSource, BeforeValidator(_world)], ...] = Field(
        default=_NO_TOOLS,
        validate_default=True,
        description=(
            "Where tools come from: a list of sources, such as {seed: all} or {import: openapi,"
            " path: api.yaml}."
        ),
    )
    # The texts of the files named by `sentences` under `tools`.
    sentence_files: SkipJsonSchema[tuple[SentenceFile, ...]] = ()
    languages: tuple[Language, ...] = Field(
        default=(DEFAULT_LANGUAGE,), description="The languages of the requests."
    )
    samples: Annotated[
        dict[str, Annotated[int, Field(ge=0)]],
        BeforeValidator(
            _counts, json_schema_input_type=dict[str, int] | list[SampleSource | dict[str, int]]
        ),
    ] = Field(
        description=(
            "How many samples of each kind to make, such as {perfect: 200}; or a list of such"
            " counts and of sample files: {from: traces.jsonl, format: openai}."
        )
    )
    scale: Literal["paper"] | None = Field(
        default=None, description="paper: take HammerBench's own counts instead of `samples`."
    )
    spare: float = Field(
        default=0.0,
        ge=0,
        le=10,
        description=(
            "How many extra samples may be planned, as a share, to replace those that fail a check."
        ),
    )
    candidates_per_sample: int = Field(
        default=5, ge=2, le=400, description="How many candidate tools a sample has."
    )
    variants: int = Field(
        default=10, ge=1, le=100, description="How many samples are made from each multi-step goal."
    )
    worlds: Literal["per task"] | Annotated[int, Field(ge=1)] = Field(
        default="per task",
        description=(
            "The worlds that tasks play in: `per task` gives each one of its own, a number so many"
            " to each environment."
        ),
    )
    models: Roles = Field(
        default=Roles(),
        description="The models that word requests, make calls from them, and judge.",
    )
    wording: Wording = Field(
        default="slots",
        description=(
            "How requests are worded: slots (the model puts placeholders, and code fills them) or"
            " free (a strong model says the values in its own words)."
        ),
    )
    value_sets: int = Field(
        default=1,
        ge=1,
        le=20,
        description="How many samples, each with values of its own, a wording with slots serves.",
    )
    prompts: dict[
        str,
        Annotated[
            PromptFile, BeforeValidator(text_as("file"), json_schema_input_type=str | PromptFile)
        ],
    ] = Field(
        default_factory=dict,
        description="Your own prompts, by the names of the prompts that they replace.",
    )
    personas: Personas = Field(
        default=(), description="Who the users are: descriptions, or how many to draw."
    )
    styles: tuple[SpokenWay, ...] = Field(
        default=(), max_length=MOST_VOICES, description="How they speak: tones and lengths."
    )
    values: dict[
        str,
        Annotated[
            OwnValueList,
            BeforeValidator(value_source, json_schema_input_type=str | list[Scalar] | OwnValueList),
        ],
    ] = Field(
        default_factory=dict,
        description=(
            "Your own values by parameter or tool.parameter: a list, a file, or a query on a"
            " DuckDB file."
        ),
    )
    examples: (
        Annotated[
            ExampleFile, BeforeValidator(text_as("file"), json_schema_input_type=str | ExampleFile)
        ]
        | None
    ) = Field(
        default=None,
        description=(
            "A file of requests from your own domain with their calls, shown to the model"
            " that words requests."
        ),
    )
    extensions: tuple[
        Annotated[Extension, BeforeValidator(_extension, json_schema_input_type=str | Extension)],
        ...,
    ] = Field(
        default=(),
        description=(
            "Your own kinds, checks, exports, importers, worlds and models, such as"
            " my_kind.py:FAMILY. Their code is run."
        ),
    )
    avoid: tuple[AvoidedSource, ...] = Field(
        default=(),
        description=(
            "Other data sets that the build must not repeat: {from: bfcl/, format: bfcl}."
        ),
    )
    personal_data: PersonalData = Field(
        default=PersonalDataRules(),
        description=(
            "What to do with personal data in samples from files: off, on (replace it) or"
            " report (only count it)."
        ),
    )
    system_message: (
        SystemMessage | Annotated[tuple[SystemMessage, ...], Field(min_length=1, max_length=1000)]
    ) = Field(
        default="",
        description=(
            "The assistant's system message: a text, a list to draw from for each sample, or"
            " none, which leaves it out of training rows too."
        ),
    )
    policies: tuple[Policy, ...] = Field(
        default=(),
        validate_default=True,
        description=(
            "What the assistant may do with the tools of a simulated world, and when, and how"
            " it is told."
        ),
    )
    license: str = Field(
        default="",
        max_length=200,
        description=(
            "The licence of the samples' text, such as CC-BY-4.0, for the card of a release."
        ),
    )
    tool_license: str = Field(
        default="",
        max_length=200,
        description="The licence of the tools, for the card of a release.",
    )
    candidates: tuple[Candidate, ...] = Field(default=(), description="The models to score.")
    checks: Checks = Field(default=Checks(), description="Thresholds.")
    consistency: Consistency = Field(
        default="blind",
        description=(
            "How a request is understood when its calls are checked: blind (a reader writes"
            " the calls without seeing the gold) or hammerbench (as HammerBench does)."
        ),
    )
    land: LandedGrade = Field(
        default="judged",
        description="The lowest grade that lands without review: judged or proved.",
    )
    review: ReviewRules = Field(default=ReviewRules(), description="What reviewers see.")
    readers: ReaderRules = Field(
        default=ReaderRules(), description="How many defects are planted to measure readers."
    )
    accept: AcceptanceRules = Field(
        default=AcceptanceRules(),
        description="How reliable a reader must be for what it settles to land without review.",
    )
    budget: float | None = Field(
        default=None,
        gt=0,
        description=(
            "The most that the build may cost, in US dollars; it stops before it costs more."
        ),
    )
    shard_size: int = Field(
        default=5000,
        ge=1,
        description="The most records in a shard; shards are sized by how long they take.",
    )
    schedule: Schedule | None = Field(default=None, description="When Prefect runs the build.")
    trial: bool = Field(
        default=False,
        description="Whether the builds are trials, which a release takes only by name.",
    )
    _brought: tuple[str, ...] = PrivateAttr(default=())
    _run: int = PrivateAttr(default=1)

    @model_validator(mode="before")
    @classmethod
    def _resolved(cls, loaded: Any) -> Any:  # noqa: ANN401 - not validated yet
        """Return the settings, with the paper's counts for `scale: paper`.

        Extensions that were read before (they have a digest) are registered first, because another
        process validates the recipe anew, and it may name their kinds.
        """
        if not isinstance(loaded, dict):
            return loaded
        if loaded.get("scale") == "paper":
            loaded = loaded | {
                "samples": {kind.name: kind.scale for kind in all_kinds().values() if kind.scale}
            }
        for one in loaded.get("extensions", ()):
            if isinstance(one, dict) and one.get("digest"):
                with _as_invalid():
                    add_from_file(Path(one["file"]), one["name"])
        return loaded

    @field_validator("tools", mode="before")
    @classmethod
    def _has_tools(cls, tools: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - not validated yet
        takes_nothing = info.data.get("sources") == ()
        if tools is _NO_TOOLS and takes_nothing:
            raise PydanticKnownError("missing")
        if tools == [] and takes_nothing:
            raise PydanticKnownError(
                "too_short", {"field_type": "Tuple", "min_length": 1, "actual_length": 0}
            )
        return tools

    @field_validator("languages")
    @classmethod
    def _languages_are_known(cls, languages: tuple[Language, ...]) -> tuple[Language, ...]:
        for language in languages:
            with _as_invalid():
                of(language)
        return languages

    @field_validator("samples")
    @classmethod
    def _can_be_made(cls, samples: dict[str, int], info: ValidationInfo) -> dict[str, int]:
        if any(samples.values()) and info.data.get("tools") == ():
            problem = f"{', '.join(samples)} samples are made from tools; list some under tools"
            raise ValueError(problem)
        with _as_invalid():
            brought_along(samples)
        return samples

    @field_validator("policies")
    @classmethod
    def _are_there(cls, policies: tuple[Policy, ...], info: ValidationInfo) -> tuple[Policy, ...]:
        for name, count in info.data.get("samples", {}).items():
            if count and not policies and kind_named(name).traits.is_ruled:
                raise ValueError(
                    f"{name} samples need `policies`, which say what the assistant may do with"
                    " a tool, and when"
                )
        return policies

    @field_validator("candidates")
    @classmethod
    def _labels_differ(cls, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        labels = [candidate.label for candidate in candidates]
        if len(set(labels)) != len(labels):
            raise ValueError(f"two candidates have the same label: {labels}")
        return candidates

    @model_validator(mode="after")
    def _can_grow(self) -> Self:
        each = self.schedule.each if self.schedule else None
        if each is not None and each.grow is not None and not any(self.samples.values()):
            raise ValueError("schedule.each.grow needs counts of samples, such as {perfect: 20}")
        return self

    @model_validator(mode="after")
    def _can_word(self) -> Self:
        generator = self.models.generator.name
        if self.wording == "free" and not reads_language(generator):
            raise ValueError(f"{generator} words requests with slots only: leave out wording: free")
        if self.wording == "free" and self.value_sets > 1:
            raise ValueError("value_sets needs wording: slots, since free words say one set only")
        return self

    @model_validator(mode="after")
    def _brings_sources(self) -> Self:
        """Add the kinds that others are made from to the counts.

        A stored recipe has them already, so nothing is added to it.
        """
        brought = brought_along(self.samples)
        self.samples.update(brought)
        self._brought = tuple(brought)
        return self

    @property
    def brought(self) -> dict[str, int]:
        """The kinds that others are made from and the recipe does not ask for, with counts."""
        return {name: self.samples[name] for name in self._brought}

    @property
    def run(self) -> int:
        """Which run of its schedule this recipe is for: 1 is the recipe as it is written."""
        return self._run

    @property
    def landing_grades(self) -> list[LandedGrade]:
        """The grades that land without reviewers."""
        return list(LANDED_GRADES[LANDED_GRADES.index(self.land) :])

    @property
    def spoken_personas(self) -> tuple[str, ...]:
        """The recipe's personas; if it only gives a number, drawn by its seed."""
        if isinstance(self.personas, int):
            return draw_personas(self.personas, self.seed)
        return self.personas

    @property
    def is_voiced(self) -> bool:
        """Whether users have personas or styles; the template model's users have neither."""
        return bool(self.personas or self.styles) and reads_language(self.models.generator.name)

    @property
    def most_planted(self) -> float:
        """The largest share of readings to plant in for `readers.at_least`.

        It is all of them if `accept.wrong_at_most` is given, because then what is known decides
        what lands.
        """
        return self.readers.at_most if self.accept.wrong_at_most is None else 1.0

    @property
    def own_values(self) -> dict[str, list[JsonValue]]:
        """The recipe's own values, by parameter."""
        return {name: [*source.entries] for name, source in self.values.items()}

    @property
    def shown_examples(self) -> list[JsonValue]:
        """The examples shown to the model that words requests, drawn by seed if there are many.

        There are none for the template model.
        """
        if self.examples is None or not reads_language(self.models.generator.name):
            return []
        read = [one.model_dump(exclude_defaults=True) for one in self.examples.read]
        return Random(f"{self.seed}:examples").sample(read, min(len(read), _SHOWN_EXAMPLES))

    @property
    def own_prompts(self) -> dict[str, str]:
        """The texts of the recipe's own prompts, by name."""
        return {name: prompt.text for name, prompt in self.prompts.items()}

    def model_named(self, name: str) -> ModelSettings:
        """Return a model with the settings that this recipe has for it, if it has any.

        A candidate goes by its label or its model's name, a model of a role by its name.
        """
        by_label = {one.label: one.model for one in self.candidates}
        known = [*(one.model for one in self.candidates), *self.models.named.values()]
        by_name = {one.name: one for one in reversed(known)}
        return by_label.get(name) or by_name.get(name) or read_model(name)

    def as_asked(self, *, model: str = "", limit: int = 0, run: int = 1) -> "Recipe":
        """Return the recipe with one model for all roles, fewer samples, or of a run, if given."""
        roles = (
            Roles(**dict.fromkeys(self.models.named, self.model_named(model)))
            if model
            else self.models
        )
        chosen = self.as_run(run).model_copy(update={"models": roles})
        return chosen.with_limit(limit) if limit else chosen

    def as_run(self, run: int) -> "Recipe":
        """Return the recipe of a run of its schedule, from 1.

        Raises ConfigurationError for another run than the first if `each` says nothing of it.
        """
        if run == 1:
            return self
        if self.schedule is None or self.schedule.each is None:
            raise ConfigurationError(
                f"The recipe {self.name!r} has no run {run}, because its schedule does not say what"
                " each run does, such as `each: {grow: 200}`."
            )
        each, brought = self.schedule.each, self.brought
        asked = {kind: count for kind, count in self.samples.items() if kind not in brought}
        samples = each.counts(run, asked)
        more = brought_along(samples)
        changes = {"seed": each.seed_of(run, self.seed), "samples": samples | more, "scale": None}
        chosen = self.model_copy(update=changes)
        chosen.__pydantic_private__ = {"_run": run, "_brought": tuple(more)}
        return chosen

    def with_preview(self, shown: int) -> "Recipe":
        """Return the recipe for a preview of `shown` samples per kind.

        Kinds that others are made from get more.
        """
        source_kinds = {source for name in self.samples for source in kind_named(name).sources}
        samples = {
            name: min(count, shown * (_PREVIEW_SOURCES if name in source_kinds else 1))
            for name, count in self.samples.items()
        }
        tools = tuple(
            one.with_preview() if isinstance(one, GeneratedTools) else one for one in self.tools
        )
        sources = tuple(one.with_at_most(shown) for one in self.sources)
        changes = {
            "samples": samples,
            "sources": sources,
            "scale": None,
            "tools": tools,
            "variants": 1,
            "trial": True,
        }
        return self.model_copy(update=changes)

    def with_limit(self, limit: int) -> "Recipe":
        """Return the recipe with at most `limit` samples of each kind; a trial if that is fewer."""
        samples = {kind: min(limit, count) for kind, count in self.samples.items()}
        sources = tuple(one.with_at_most(limit) for one in self.sources)
        is_smaller = (samples, sources) != (self.samples, self.sources)
        changes = {
            "samples": samples,
            "sources": sources,
            "scale": None,
            "trial": self.trial or is_smaller,
        }
        return self.model_copy(update=changes)
