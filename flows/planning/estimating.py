"""What a build will ask and cost: a dry run with the real prompts, and earlier builds' yield."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import NamedTuple

import orjson

from callwright.flows.catalogs import aside
from callwright.flows.planning.demands import told_of_brought, waves
from callwright.flows.planning.planner import planned_by_kind, read_left_out
from callwright.flows.planning.statistics import told_of_trust
from callwright.flows.progress import Progress, SilentProgress, duration, told_of_own_reader
from callwright.flows.recipe import Recipe
from callwright.flows.recipe.parts import GeneratedTools
from callwright.flows.run.carry import GroupRun, InProcess
from callwright.flows.run.plan import check_samples, make_samples, measure_readers, open_build
from callwright.flows.run.work import SharedChats, roles_of
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.sources import known_sources
from callwright.flows.stages import stage_named
from callwright.flows.toolmaking import prepare_tools
from callwright.generators.kinds import all_kinds, family_of, kind_named, traits_of
from callwright.generators.toolset.sketches import load_categories
from callwright.llm.asking import Asking, LedgeredChat
from callwright.llm.chat import READ_AS_FAST
from callwright.llm.models import LOCAL, LOCAL_OPENAI, ModelSettings, reads_language
from callwright.llm.prices import knows_tokenizer, say_unpriced, unpriced_sentence
from callwright.llm.stand_in import open_stand_in, price_of
from callwright.validators.reading.planting import GROUP as MEASURING
from callwright.warehouse.counts import count_of
from callwright.warehouse.queries import sql
from callwright.warehouse.store import Warehouse

# samples of each kind in the dry run: tools of a document differ tenfold in length
_FEWEST, _MOST = (4, 40)
_DRY = 240  # of them in all, where the kinds are not too many
_MOST_REPEATS = 5.0  # beyond that the earlier build was another thing
TOOLS = "tools"  # where a call is about the tools that are made, and no kind of sample


class EstimateRow(NamedTuple):
    """What a role's model is asked for a kind of sample; `dollars` is None if no price is known."""

    role: str
    model: str
    kind: str
    calls: int
    prompt_tokens: int
    reply_tokens: int
    dollars: float | None


class EarlierBuild(NamedTuple):
    """An earlier build of the recipe with the same models: its yield, and calls and cost.

    Calls and cost are per accepted sample.
    """

    build: str
    made: int
    accepted: int
    calls_per_accepted: float | None
    cost_per_accepted: float | None

    @property
    def acceptance(self) -> float:
        """The share of made samples that landed."""
        return self.accepted / self.made if self.made else 0.0


class Estimate(NamedTuple):
    """What a build will ask and cost; what the ledger already knows costs nothing."""

    recipe: str
    planned: int
    calls: int
    prompt_tokens: int
    reply_tokens: int
    dollars: float | None
    seconds: float | None  # None where a model's pace is unknown
    accepted: int | None
    dollars_per_accepted: float | None
    rows: tuple[EstimateRow, ...]
    earlier: EarlierBuild | None
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The estimate as a sentence, the first line of a build."""
        roles: dict[str, float] = {}
        for row in self.rows:
            if row.dollars is not None:
                roles[row.role] = roles.get(row.role, 0.0) + row.dollars
        parts = ", ".join(f"{role} {_money(dollars)}" for role, dollars in roles.items())
        unknown = sorted({row.model for row in self.rows if row.dollars is None})
        known = f"{_money(sum(roles.values()))} ({parts})" if roles else ""
        cost = " and ".join(
            filter(None, (known, f"an unknown amount for {', '.join(unknown)}" if unknown else ""))
        )
        each = ""
        if self.dollars_per_accepted is not None:
            each = f", {_money(self.dollars_per_accepted)} for each accepted sample"
        tokens = f"{self.prompt_tokens:,} tokens in and {self.reply_tokens:,} out"
        made = f"about {count_of(self.calls, 'call')}, {tokens}, {cost or 'no cost'}"
        time = "" if self.seconds is None else f", {duration(self.seconds)} at the measured pace"
        return f"Estimate for {count_of(self.planned, 'planned sample')}: {made}{each}{time}."


def _money(dollars: float) -> str:
    return f"${dollars:.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"


class _Pace(NamedTuple):
    """What a model's requests took in this warehouse: their seconds together, and their tokens.

    `at_once` is how many requests it takes at a time.
    """

    model: str
    seconds: float
    work: float  # tokens of replies, and those of prompts as far as they take time
    at_once: int

    @property
    def sentence(self) -> str:
        """The pace as a note of the estimate."""
        return (
            f"{self.model} was measured at {self.work / self.seconds:.1f} tokens a second for each"
            f" request, with {self.at_once} at once."
        )


def _paces(warehouse: Warehouse, recipe: Recipe) -> dict[str, _Pace | None]:
    """Return the pace of each model that takes time, None where it was never asked."""
    models = {model.name: model for _, model in roles_of(recipe) if reads_language(model.name)}
    rows = {
        row["model"]: row
        for row in warehouse.rows(sql("estimating.paces"), [READ_AS_FAST, [*models]])
    }
    return {
        name: _Pace(name, rows[name]["seconds"], rows[name]["work"], model.concurrency)
        if name in rows
        else None
        for name, model in models.items()
    }


def _seconds(rows: Iterable[EstimateRow], paces: Mapping[str, _Pace | None]) -> float | None:
    """Return how long the requests take, None where a pace is unknown or no model takes time."""
    total = 0.0
    for row in rows:
        if row.model not in paces:
            continue
        pace = paces[row.model]
        if pace is None:
            return None
        work = row.reply_tokens + row.prompt_tokens / READ_AS_FAST
        total += work * pace.seconds / pace.work / pace.at_once
    return total if paces else None


def _told_of_paces(paces: Mapping[str, _Pace | None]) -> Iterator[str]:
    for name, pace in paces.items():
        if pace is not None:
            yield pace.sentence
        elif name.startswith((LOCAL, LOCAL_OPENAI)):
            yield (
                f"The pace of {name} is unknown. `callwright build RECIPE --preview 2` measures it."
            )


class _StageDemand(NamedTuple):
    """What a stage of the dry run asked for one kind; "" if the kind is unknown."""

    stage: str
    kind: str
    calls: int
    prompt_tokens: int
    reply_tokens: int
    dollars: float


async def estimate_build(recipe: Recipe, settings: Settings) -> Estimate:
    """Estimate a recipe's build without a call to its models, in a temporary work folder.

    template/v1 stands in for each model.
    """
    with aside(recipe, settings) as elsewhere:
        run = await run_dry(recipe, elsewhere, sampled=_sampled(recipe))
        asked_rows, sampled = (
            [_StageDemand(**row) for row in run.warehouse.rows(sql("estimating.asked"))],
            planned_by_kind(run),
        )
        left_out = read_left_out(run.warehouse, run.build)
    warehouse = open_warehouse(settings)
    earlier = await asyncio.to_thread(_earlier_build, warehouse, recipe)
    told = await asyncio.to_thread(_told_of_readers, warehouse, recipe)
    paces = await asyncio.to_thread(_paces, warehouse, recipe)
    # few sources tell nothing of the others
    own = (one for one in left_out if not kind_named(one.kind).sources)
    impossible = {one.kind: one for one in own if one.samples and not sampled.get(one.kind)}
    planned = {
        name: count for name, count in _planned(recipe, earlier).items() if name not in impossible
    }
    taken, unread = _taken(recipe, settings, sampled)
    planned |= taken
    rows = [*_rows(recipe, asked_rows, _Scale(recipe, sampled, planned))]
    if earlier is not None:
        rows = _as_before(rows, sum(planned.values()), earlier)
    total = sum(planned.values())
    accepted = round(total * earlier.acceptance) if earlier is not None else None
    unknown = any(row.dollars is None for row in rows)
    dollars = None if unknown else sum(row.dollars or 0.0 for row in rows)
    build_estimate = Estimate(
        recipe=recipe.name,
        planned=total,
        calls=sum(row.calls for row in rows),
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        reply_tokens=sum(row.reply_tokens for row in rows),
        dollars=dollars,
        seconds=_seconds(rows, paces),
        accepted=accepted,
        dollars_per_accepted=dollars / accepted if accepted and dollars is not None else None,
        rows=tuple(rows),
        earlier=earlier,
        notes=(*_notes(recipe), *_told_of_paces(paces)),
    )
    left = (f"No {name} samples can be planned. {one.reason}" for name, one in impossible.items())
    return build_estimate._replace(notes=(*build_estimate.notes, *left, *unread, *told))


def _taken(
    recipe: Recipe, settings: Settings, sampled: Mapping[str, int]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return how many samples of each kind come from files, and notes on files not read yet.

    The counts are scaled up from the first records of the files.
    """
    seen = {
        name: count
        for name, count in sampled.items()
        if name in all_kinds() and traits_of(name).is_taken
    }
    if not seen:
        return {}, ()
    records = sum(one.asked for one in known_sources(recipe, settings))
    if not records:
        return seen, (
            (
                "Files have not been read yet. Only their first"
                f" {count_of(sum(seen.values()), 'record')} are counted."
            ),
        )
    return {name: round(count * records / sum(seen.values())) for name, count in seen.items()}, ()


def _as_before(
    rows: Sequence[EstimateRow], planned: int, earlier: EarlierBuild
) -> list[EstimateRow]:
    """Return the rows scaled by the retries of an earlier build, which stand-ins seldom need."""
    dry = sum(row.calls for row in rows) / max(1, planned)
    before = (earlier.calls_per_accepted or 0.0) * earlier.acceptance
    repeats = min(_MOST_REPEATS, max(1 / _MOST_REPEATS, before / dry)) if dry and before else 1.0
    return [
        row._replace(
            calls=round(row.calls * repeats),
            prompt_tokens=round(row.prompt_tokens * repeats),
            reply_tokens=round(row.reply_tokens * repeats),
            dollars=row.dollars and row.dollars * repeats,
        )
        for row in rows
    ]


def _sampled(recipe: Recipe) -> int:
    """Return how many samples of each kind the dry run makes."""
    return max(_FEWEST, min(_MOST, _DRY // max(1, sum(map(bool, recipe.samples.values())))))


async def run_dry(
    recipe: Recipe,
    aside: Settings,
    open_one: Callable[..., LedgeredChat] = open_stand_in,
    *,
    sampled: int = _FEWEST,
) -> GroupRun:
    """Build `sampled` samples of each kind with the stand-ins that `open_one` opens."""
    looked = recipe.with_preview(sampled)
    # All that is read is planted in as well, to know what that takes of each kind.
    readers = recipe.readers.model_copy(update={"planted": float(bool(recipe.readers.planted))})
    changes = {
        "budget": None,
        "spare": 0.0,
        "variants": min(recipe.variants, sampled),
        "readers": readers,
    }
    dry = looked.model_copy(update=changes)
    carrier = InProcess(1, SharedChats(open_one=open_one))
    progress = SilentProgress()
    with open_warehouse(aside).together():  # a file of its own, so nobody waits
        await prepare_tools(dry, aside, progress, lambda _run: nullcontext(carrier))
        run = open_build(dry, aside, progress)
        for kinds in waves(dry):
            await make_samples(run, carrier, kinds)
            await check_samples(run, carrier)
        if dry.readers.planted:
            await measure_readers(run, carrier)
    return run


class _Scale:
    """Scales the requests of the dry run up to those of the build."""

    def __init__(
        self, recipe: Recipe, sampled: Mapping[str, int], planned: Mapping[str, int]
    ) -> None:
        self._sampled, self._planned, self._recipe = sampled, planned, recipe
        dry = recipe.with_preview(_sampled(recipe))
        self._tools = _made_categories(recipe) / max(1, _made_categories(dry))

    def of(self, stage: str, kind: str) -> float:
        """Return the factor for a stage's calls for a kind, or its group's for an unknown kind."""
        if self._sampled.get(kind):
            return self._worked(stage, kind) / self._sampled[kind]
        group = stage_named(stage).group
        kinds = [name for name in self._planned if kind_named(name).group == group]
        if group == "toolset":
            return self._tools
        sampled = sum(self._sampled.get(name, 0) for name in kinds or self._planned)
        return sum(self._planned[name] for name in kinds or self._planned) / max(1, sampled)

    def _worked(self, stage: str, kind: str) -> float:
        """Return how many of a kind meet the stage.

        If readers are measured, it is the kind's part of what the recipe wants of its family.
        """
        planned = self._planned.get(kind, 0)
        if stage_named(stage).group != MEASURING:
            return planned
        mine, readers = family_of(kind), self._recipe.readers
        alike = sum(count for name, count in self._planned.items() if family_of(name) == mine)
        each = alike / len(self._recipe.languages)
        wanted = max(
            min(readers.at_least, self._recipe.most_planted * each), readers.planted * each
        )
        return planned * min(1.0, wanted / each) if each else 0.0

    def kind(self, stage: str, kind: str) -> str:
        """Return the kind as the estimate shows it."""
        return kind or (
            TOOLS if stage_named(stage).group == "toolset" else stage_named(stage).group
        )


def _made_categories(recipe: Recipe) -> int:
    made = [one for one in recipe.tools if isinstance(one, GeneratedTools)]
    return sum(
        len(load_categories()) if one.generate == "all" else len(one.generate) for one in made
    )


def _rows(recipe: Recipe, asked: Iterable[_StageDemand], scale: _Scale) -> Iterator[EstimateRow]:
    models = dict(roles_of(recipe))
    sums: dict[tuple[str, str], list[float]] = {}
    for one in asked:
        at = (stage_named(one.stage).role or "generator", scale.kind(one.stage, one.kind))
        factor = scale.of(one.stage, one.kind)
        amounts = (one.calls, one.prompt_tokens, one.reply_tokens, one.dollars)
        sums[at] = [
            before + factor * more
            for before, more in zip(sums.get(at, [0.0] * 4), amounts, strict=True)
        ]
    for (role, kind), (calls, prompt, reply, dollars) in sorted(sums.items()):
        known = None if is_unpriced(models[role]) else dollars
        yield EstimateRow(
            role, models[role].name, kind, round(calls), round(prompt), round(reply), known
        )


def _planned(recipe: Recipe, earlier: EarlierBuild | None) -> dict[str, int]:
    """Return how many of each kind will be planned, with `spare` also known replacements."""
    more = recipe.spare
    if earlier is not None and earlier.acceptance:
        more = min(recipe.spare, 1 / earlier.acceptance - 1)
    return {name: round(count * (1 + more)) for name, count in recipe.samples.items() if count}


def _told_of_readers(warehouse: Warehouse, recipe: Recipe) -> list[str]:
    """Return why the recipe's readers settle nothing, as far as an earlier build measured it."""
    readers = [model.name for role, model in roles_of(recipe) if role != "generator"]
    return [
        f"In build {row['build']}: {sentence}"
        for row in warehouse.rows(sql("estimating.measured"), [readers])
        for sentence in told_of_trust(warehouse, row["build"], recipe.accept)
        if sentence.startswith(f"{row['reader']} ")
    ]


def _earlier_build(warehouse: Warehouse, recipe: Recipe) -> EarlierBuild | None:
    """Return the recipe's last finished build with the same kinds and models."""
    names = [model.name for _, model in roles_of(recipe)]
    for row in warehouse.rows(sql("estimating.earlier"), [recipe.name]):
        before = Recipe.model_validate_json(row["body"])
        if [model.name for _, model in roles_of(before)] == names and set(before.samples) == set(
            recipe.samples
        ):
            landed = row["accepted"] or None
            calls, cost = (
                None if landed is None else (row[name] or 0) / landed for name in ("calls", "cost")
            )
            return EarlierBuild(row["key"], row["made"], row["accepted"], calls, cost)
    return None


def _notes(recipe: Recipe) -> Iterator[str]:
    across = {model.name: model for _, model in roles_of(recipe) if model.path != "in process"}
    yield from (unpriced_sentence(name) for name, model in across.items() if is_unpriced(model))
    yield from told_of_brought(recipe)
    yield from told_of_own_reader(roles_of(recipe))
    for name in across:
        if not knows_tokenizer(name):
            yield f"The tokenizer of {name} is unknown. Four bytes are counted as one token."


async def tell_costs(recipe: Recipe, settings: Settings, progress: Progress) -> None:
    """Say what a build will ask and cost if it costs money, and which models have no price.

    Also say which of its readers are known to settle nothing, before any of them is asked.
    """
    if settings.warehouse.exists():
        for sentence in await asyncio.to_thread(_told_of_readers, open_warehouse(settings), recipe):
            progress.say(sentence)
    if costs_money(recipe):
        progress.say((await estimate_build(recipe, settings)).sentence)
    for name in {model.name for _, model in roles_of(recipe) if is_unpriced(model)}:
        say_unpriced(name, progress.say)


def is_unpriced(model: ModelSettings) -> bool:
    """Whether the price of a model across a network is unknown."""
    return model.path != "in process" and not price_of(model).is_known


def costs_money(recipe: Recipe) -> bool:
    """Whether a model of the recipe's roles costs anything."""
    prices = [price_of(model) for _, model in roles_of(recipe) if model.path != "in process"]
    return any(price.prompt or price.completion for price in prices)


class ShownPrompt(NamedTuple):
    """A prompt as first rendered: `stage` asked it, `answer` is the schema, {} for free text."""

    stage: str
    name: str
    messages: list[dict[str, str]]
    answer: dict[str, object]

    @property
    def markdown(self) -> str:
        """The prompt as a section of a page."""
        parts = [f"## {self.name}", f"Asked by the stage `{self.stage}`."]
        parts += [
            f"**{message['role']}**\n\n{_fenced(message['content'])}" for message in self.messages
        ]
        if self.answer:
            parts.append(f"**answer**\n\n{_fenced(orjson.dumps(self.answer).decode(), 'json')}")
        return "\n\n".join(parts)


def _fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text}\n```"


async def show_prompts(recipe: Recipe, settings: Settings) -> list[ShownPrompt]:
    """Return each prompt that a build asks, by name, rendered for its first record.

    Raises as `estimate_build` does.
    """
    prompts_by_name: dict[str, ShownPrompt] = {}

    def overhear(asking: Asking) -> None:
        if asking.prompt.name not in prompts_by_name:
            messages = [
                one.model_dump(include={"role", "content"}) for one in asking.prompt.messages
            ]
            prompts_by_name[asking.prompt.name] = ShownPrompt(
                asking.stage, asking.prompt.name, messages, dict(asking.schema)
            )

    with aside(recipe, settings) as elsewhere:
        await run_dry(recipe, elsewhere, partial(open_stand_in, overhear=overhear))
    return [prompts_by_name[name] for name in sorted(prompts_by_name)]


def prompts_page(shown: list[ShownPrompt], recipe: str) -> str:
    """Return the text of docs/prompts.md."""
    head = (
        "# Prompts\n\nEvery prompt that a build sends, in full, for the first record of"
        f" `{recipe}`. `callwright recipe prompts RECIPE` shows the prompts of your own recipe,"
        " which may also bring its own texts (docs/recipes.md).\n"
    )
    return "\n".join([head, "\n\n".join(one.markdown for one in shown), ""])
