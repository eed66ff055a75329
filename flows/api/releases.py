"""Samples and releases from Python: `samples`, `create_release` and `load_release`."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

import orjson

from callwright.flows.api.options import ExportOptions, ReleaseOptions
from callwright.flows.api.surroundings import ProgressReceiver, opened_progress, settings_of
from callwright.flows.environments import ship_worlds
from callwright.flows.evaluation.answers import require_options_fit, with_answers
from callwright.flows.options import with_options
from callwright.flows.progress import counted
from callwright.flows.settings import Settings, open_warehouse, reading
from callwright.language.packs import known, of
from callwright.language.pages import shapes_in
from callwright.warehouse.cards import card_facts, render_card
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.exports.examples import openai_messages
from callwright.warehouse.exports.formats import (
    Export,
    export_release,
    export_tables,
    format_of,
    record_line,
)
from callwright.warehouse.exports.hugging_face import hugging_face_row
from callwright.warehouse.exports.verify_certificate import CERTIFICATE
from callwright.warehouse.exports.writing import TableFormat, wire_document
from callwright.warehouse.extras import require_package
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Evidence, GoldCall, Language, Release, Sample, Tool
from callwright.warehouse.releases import (
    AssistantWords,
    GroundsReader,
    MadeRelease,
    Selection,
    Terms,
    count_kinds,
    make_release,
    parse_shares,
    read_tools,
    release_named,
    require_intact,
    stream_release,
)
from callwright.warehouse.store import Warehouse
from callwright.warehouse.wire_names import wire_names

if TYPE_CHECKING:
    from callwright.flows.evaluation.comparing import AnswerVerdict
    from callwright.flows.overlap import Overlap


class KeptSample(NamedTuple):
    """An accepted sample, with its tools and the evidence of each argument.

    `grade` is its weakest evidence: "proved" (rules), "judged" (a model's reading) or "vouched"
    (a person); "" if a file has none. `split` is that of a release, "" for none.

        kept.request, kept.calls[0].arguments  # 'What is the weather in Ulm?', {'city': 'Ulm'}
        kept.evidence[0]                       # Evidence(argument='city', quote='Ulm', …)
    """

    sample: Sample
    tools: tuple[Tool, ...]
    evidence: tuple[Evidence, ...]
    grade: str = ""
    split: str = ""

    @property
    def key(self) -> str:
        """The hash of its content, '5c1f…'; equal samples have equal keys everywhere."""
        return self.sample.key

    @property
    def request(self) -> str:
        """The user's first message."""
        return self.sample.request

    @property
    def calls(self) -> tuple[GoldCall, ...]:
        """The calls that are due at the end; empty if no tool fits."""
        return self.sample.gold

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All messages and calls in OpenAI's form: [{'role': 'user', 'content': 'What is …'}]."""
        return list(
            openai_messages(self.sample.briefing, self.sample.turns, wire_names(self.tools))
        )

    @property
    def prompt(self) -> list[dict[str, Any]]:
        """The messages up to where the last calls are due: what a model is to answer."""
        from callwright.flows.evaluation.comparing import last_due

        turns = self.sample.turns[: last_due(self.sample)]
        return list(openai_messages(self.sample.briefing, turns, wire_names(self.tools)))

    def compare(self, answer: object) -> "AnswerVerdict":
        """Compare an answer to `prompt` and `openai_tools` with all that is accepted.

            verdict = kept.compare([("get_weather", {"city": "Ulm"})])
            verdict.is_right, verdict.matched, verdict.mistake     # True, 'gold', ''

        It takes what `evaluate` takes from a function: calls, OpenAI's message, a text, or None.
        """
        from callwright.flows.evaluation.comparing import compare_answer

        tools = {one.key: one for one in self.tools}
        return compare_answer(self.sample, tools, answer, wire_names(self.tools))

    @property
    def openai_tools(self) -> list[dict[str, Any]]:
        """The candidate tools in OpenAI's form: [{'type': 'function', 'function': {…}}]."""
        names = wire_names(self.tools)
        return [
            {"type": "function", "function": wire_document(tool, names)} for tool in self.candidates
        ]

    @property
    def candidates(self) -> list[Tool]:
        """The tools that may be called, without those that are withheld."""
        return [tool for tool in self.tools if tool.key in self.sample.candidates]

    @property
    def record(self) -> dict[str, Any]:
        """The whole sample, as `export --to records` writes it and `check_records` reads it."""
        return record_line(self.sample, {tool.key: tool for tool in self.tools})

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self:
        """Return the sample of a `record`. Raises RecordError if it is none."""
        try:
            sample = Sample.model_validate(record["sample"])
            tools = tuple(Tool.model_validate(tool) for tool in record["tools"])
        except (ValueError, KeyError, TypeError) as error:
            raise RecordError(f"This is not the record of a sample: {error}.") from error
        return cls(sample, tools, tuple(one for call in sample.gold for one in call.evidence))


class WorkFolder:
    """A work folder for reading; concurrent readers share one copy of it."""

    def __init__(self, settings: Settings, *, live: bool = False) -> None:
        """Copy nothing yet; `live` waits for the current state while a build is running."""
        self._settings = settings
        self._live = live
        self.home = settings.ledger.parent
        self._copy = ExitStack()
        self._warehouse: Warehouse | None = None
        self._readers = 0

    @contextmanager
    def opened(self) -> Iterator[Warehouse]:
        """Yield its warehouse, which stays open until its last reader is done."""
        if self._warehouse is None:
            self._warehouse = self._copy.enter_context(reading(self._settings, live=self._live))
        self._readers += 1
        try:
            yield self._warehouse
        finally:
            self._readers -= 1
            if not self._readers:
                self._warehouse = None
                self._copy.close()


def samples(where: str = "", *, home: Path | str | None = None) -> Iterator[KeptSample]:
    """Yield the accepted samples, each with the evidence of its arguments.

    `where` is an SQL condition on the view accepted_samples (docs/sql.md). They are read from a
    copy, so that no build waits.

        for kept in callwright.samples("kind = 'perfect' and grade = 'judged'"):
            kept.request, kept.calls[0].arguments, kept.evidence[0].quote

    Raises ConfigurationError if `where` is not a valid condition on that view.
    """
    with WorkFolder(settings_of(home)).opened() as warehouse:
        chosen = [sorted(warehouse.keys_where(where))] if where else []
        condition = "where key in (select unnest(?::varchar[]))" if where else ""
        asked = f"select body, evidence, grade, '' from accepted_samples {condition} order by key"  # noqa: S608 - our own
        rows = warehouse.stream(asked, chosen)
        tools: dict[str, Tool] = {}
        for row in rows:
            yield _kept(row, lambda keys: tools | _learn(warehouse, tools, keys))


def _learn(warehouse: Warehouse, tools: dict[str, Tool], keys: Sequence[str]) -> dict[str, Tool]:
    """Return `tools` after adding those of these keys that it lacks."""
    unknown = [key for key in keys if key not in tools]
    if unknown:
        tools.update(read_tools(warehouse, unknown))
    return tools


def _kept(
    row: Sequence[Any], tools_of: Callable[[Sequence[str]], Mapping[str, Tool]]
) -> KeptSample:
    body, evidence, grade, split = row
    sample = Sample.model_validate_json(body)
    keys = [*dict.fromkeys((*sample.candidates, *sample.withheld))]
    tools = tools_of(keys)
    proofs = tuple(Evidence.model_validate(one) for one in orjson.loads(evidence or "[]"))
    return KeptSample(
        sample, tuple(tools[key] for key in keys if key in tools), proofs, grade or "", split
    )


class LoadedRelease:
    """A release to iterate over or convert to pandas, `datasets` or files.

    `release` describes it (None for a folder).

        release = callwright.load_release("v1")
        len(release), release.splits           # 14, ('train', 'test')
        for kept in release:
            kept.messages, kept.openai_tools, kept.calls, kept.evidence
    """

    def __init__(
        self,
        name: str,
        read: Callable[[], Iterator[KeptSample]],
        stored: "_StoredRelease | None" = None,
    ) -> None:
        """Store how to read the samples; only releases in a warehouse can be exported."""
        self.name = name
        self._read = read
        self._stored = stored
        self.release: Release | None = stored and stored.release

    def __iter__(self) -> Iterator[KeptSample]:
        return self._read()

    @property
    def created(self) -> MadeRelease:
        """What its creation took and left out. Raises ConfigurationError if it was only loaded."""
        if self._stored is None or self._stored.made is None:
            raise ConfigurationError(
                f"The release {self.name!r} was loaded from the warehouse. Only"
                " `create_release` returns what it took and left out."
            )
        return self._stored.made

    @cached_property
    def _count(self) -> int:
        return self.release.samples if self.release else sum(1 for _ in self)

    def __len__(self) -> int:
        return self._count

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of its splits, such as ('train', 'test'); empty if it has none."""
        if self.release:
            return tuple(self.release.splits)
        return tuple(dict.fromkeys(kept.split for kept in self if kept.split))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each sample: the columns of `export --to hf`, split and grade.

        The columns are those of docs/exports.md. Calls and schemas are JSON text: {'key':
        '5c1f…', 'request': 'What is …', 'tools': '[{"name": …'}.
        """
        for kept in self:
            row = hugging_face_row(kept.sample, {tool.key: tool for tool in kept.tools})
            yield row | {"split": kept.split, "grade": kept.grade}

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return the rows as a pandas.DataFrame. Raises ConfigurationError if pandas is missing.

        frame = callwright.load_release("v1").to_pandas()
        frame.groupby("kind").size()
        """
        return require_package("pandas", "to_pandas()").DataFrame.from_records(list(self.rows()))

    def to_dataset(self) -> Any:  # noqa: ANN401 - datasets is no dependency
        """Return the rows as a datasets.Dataset, or a DatasetDict if there are splits.

            dataset = callwright.load_release("v1").to_dataset()
            dataset["train"][0]["request"]         # 'What is the weather in Ulm?'

        Raises ConfigurationError that says how to install `datasets` if it is missing.
        """
        datasets = require_package("datasets", "to_dataset()")
        rows = list(self.rows())
        if not self.splits:
            return datasets.Dataset.from_list(rows)
        parts = {name: [row for row in rows if row["split"] == name] for name in self.splits}
        return datasets.DatasetDict(
            {name: datasets.Dataset.from_list(part) for name, part in parts.items()}
        )

    def count_kinds(self) -> dict[str, int]:
        """Return how many samples of each kind it has: {'imperfect': 6, 'perfect': 8}."""
        if self._stored is not None:
            with self._stored.folder.opened() as warehouse:
                return count_kinds(warehouse, self.name)
        return dict(sorted(Counter(kept.sample.kind for kept in self).items()))

    def overlap(
        self, *data_sets: str, likeness: float = 0.6, progress: ProgressReceiver = None
    ) -> "list[Overlap]":
        """Find what the release shares with other data sets, each FORMAT:PATH (docs/sources.md).

            [found] = callwright.load_release("v1").overlap("bfcl:data/bfcl")
            found.shared, found.shared_others      # {'tool': 3, 'call': 0, 'request': 1}, {…}
            found.pairs[0].request, found.pairs[0].other_request, found.pairs[0].place

        Counts are given for both sides. Tools are the same by schema, calls by their arguments,
        requests by numbers and words from `likeness` on. It works on a folder, too. Raises
        ConfigurationError for an unknown format, or if a data set holds no sample.
        """
        from callwright.flows.overlap import find_overlap  # the sentence encoder
        from callwright.validators.overlap import PlacedSample

        with opened_progress(progress) as reporting:
            read = counted(self, f"Reading {self.name}", len(self), reporting)
            own = (PlacedSample(one.key, one.sample, one.candidates) for one in read)
            return find_overlap(own, data_sets, reporting, likeness)

    @with_options
    def export(
        self,
        to: str,
        folder: Path | str | None = None,
        *,
        progress: ProgressReceiver = None,
        **options: Unpack[ExportOptions],
    ) -> Export:
        """Write it in a format that others read, with its card.

            callwright.load_release("v1").export("openai", "train")
            callwright.load_release("v1").export("trl-dpo", from_answers=["openai/gpt-6-luna"])

        Formats for training (hf, nemo-gym, openai, openenv, trl, verifiers …) leave out what
        template/v1 worded, or alone judged, unless `with_template` asks for it; `skipped` counts
        it. Their default system messages are drawn by the request (none for some), except where the
        recipe says `system_message: none`.

        Args:
            to: A format's name, or `path.py:name` of one of your own.
            folder: The export's own folder. Default: exports/RELEASE-FORMAT.
            progress: Is told how far a release of a thousand samples and more is.

        Raises ConfigurationError for an unknown format or kind, RecordError where nothing has a
        place in the format.
        """
        kinds, from_answers = options["kinds"], options["from_answers"]
        pass_rate = options["pass_rate"]
        form = format_of(to)
        in_turn = options["one_call_at_a_time"]
        require_options_fit(form, from_answers, pass_rate, one_call_at_a_time=in_turn)
        from callwright.flows.api.tasks import cheats_in_release
        from callwright.validators.accepted import allowances_of

        if self._stored is None:
            raise ConfigurationError(
                f"{self.name!r} was read from a folder. Export the release that it was written"
                " from."
            )
        counts = self.count_kinds()
        for kind in kinds:
            if kind not in counts:
                known = ", ".join(counts)
                raise ConfigurationError(
                    f"This release has no samples of the kind {kind!r}. Its kinds are {known}."
                )
        wanted = [kind for kind in counts if not kinds or kind in kinds]
        with opened_progress(progress) as reporting:
            home = self._stored.folder.home
            cheats = cheats_in_release(counts, self.name, progress=reporting, home=home)
        with self._stored.folder.opened() as warehouse:
            frozen = require_intact(warehouse, self.name)
            place = Path(folder) if folder else Path("exports") / f"{frozen.name}-{form.name}"
            facts = card_facts(warehouse, self.name, cheats)
            card = render_card(facts)
            others = [kind for kind in counts if kind not in wanted]
            takes_all = options["with_template"] or not getattr(form, "is_for_training", False)
            [told] = warehouse.rows(sql("releases.untold"), [self.name])
            words = assistant_words(
                system_messages=options["system_messages"] and not told["untold"]
            )
            stream = stream_release(
                warehouse, self.name, without=others, with_template=takes_all, words=words
            )
            grounds = GroundsReader(warehouse)
            stream = stream._replace(
                one_call_at_a_time=in_turn,
                allowances=allowances_of,
                samples=grounds.through(stream.samples),
                grounds=grounds.of,
                readers=facts.readers,
                cheats=cheats,
            )
            if isinstance(form, TableFormat):
                return export_tables(warehouse, stream, place, card, wanted)
            if from_answers or form.answers == "must":
                stream = with_answers(warehouse, stream, from_answers, pass_rate)
            if form.has_worlds:
                stream = stream._replace(
                    worlds=ship_worlds(warehouse, self.name, self._stored.folder.home, others)
                )
            with opened_progress(progress) as reporting:
                title = f"Writing {self.name} as {form.name}"
                stream = stream._replace(
                    samples=counted(stream.samples, title, frozen.samples, reporting)
                )
                return export_release(stream, to, place, card)


def assistant_words(*, system_messages: bool) -> dict[Language, AssistantWords]:
    """Return by language how an assistant says that no tool fits.

    With `system_messages`, also the system messages that it may be given.
    """
    assistant_data = {code: of(code).data["assistant"] for code in known()}
    system_messages_of = {
        code: tuple(one["system_messages"]) if system_messages else ()
        for code, one in assistant_data.items()
    }
    return {
        code: AssistantWords(shapes_in(code, "assistant.refusals"), system_messages_of[code])
        for code in assistant_data
    }


class _StoredRelease(NamedTuple):
    """A release in a work folder, and its description."""

    release: Release
    folder: WorkFolder
    made: MadeRelease | None = None

    def read(self) -> Iterator[KeptSample]:
        with self.folder.opened() as warehouse:
            named = warehouse.rows(
                "select tool from release_tools where release = ?", [self.release.name]
            )
            tools = read_tools(warehouse, [row["tool"] for row in named])
            for row in warehouse.stream(sql("release_contents.kept"), [self.release.name]):
                yield _kept(row, lambda _keys: tools)


def load_release(
    name: str | Path, *, home: Path | str | None = None, live: bool = False
) -> LoadedRelease:
    """Load a release by its name, or from a folder that `export --to records` wrote.

    While a build is running it is read from the last published copy; `live` waits for the
    current state.

        release = callwright.load_release("v1")
        release = callwright.load_release(Path("exports/v1-records"))

    Raises ConfigurationError that lists the releases, or if the folder is not such an export.
    """
    if isinstance(name, Path):
        if not any(_data_in(name)):
            raise ConfigurationError(
                f"{str(name)!r} has no records. Write some with `callwright export NAME --to"
                " records`."
            )
        return LoadedRelease(name.name, lambda: kept_in_folder(name))
    return load_from(WorkFolder(settings_of(home), live=live), name)


def load_from(folder: WorkFolder, name: str) -> LoadedRelease:
    """Return the release with this name. Raises ConfigurationError that lists the releases."""
    with folder.opened() as warehouse:
        return _loaded(_StoredRelease(release_named(warehouse, name), folder))


def _loaded(stored: _StoredRelease) -> LoadedRelease:
    return LoadedRelease(stored.release.name, stored.read, stored)


def _data_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.jsonl") if path.name != CERTIFICATE)


def kept_in_folder(folder: Path) -> Iterator[KeptSample]:
    """Yield the records in a folder's files. Raises RecordError for an invalid line."""
    for path in _data_in(folder):
        with path.open("rb") as lines:
            yield from (_of_line(line, path) for line in lines)


def _of_line(line: bytes, path: Path) -> KeptSample:
    split = "" if path.stem == "records" else path.stem
    try:
        return KeptSample.read(orjson.loads(line))._replace(split=split)
    except (ValueError, RecordError) as error:
        raise RecordError(f"{str(path)!r} has a line that is not a record: {error}.") from error


@with_options
def create_release(
    name: str, *, home: Path | str | None = None, **options: Unpack[ReleaseOptions]
) -> LoadedRelease:
    """Freeze what the newest whole build of each recipe has landed, under a name and a version.

    Trials (a build with a `limit`) and older builds are left out unless `builds` names them. The
    same content under the same name is the same release.

        release = callwright.create_release("v1", splits={"train": 0.8, "test": 0.2})
        release.release.version, release.created.splits    # '1.0.0', {'train': 11, 'test': 3}

    Args:
        name: The name of the release.
        home: The work folder. Default: CALLWRIGHT_HOME or .callwright.

    Raises ConfigurationError where there is nothing to freeze, or the name has other content
    already.
    """
    settings, splits = settings_of(home), options["splits"]
    shares = parse_shares(splits) if isinstance(splits, str) and splits else splits or {}
    terms = Terms(
        options["note"], dict(shares), options["by"], options["version"], options["follows"]
    )
    kinds, languages = tuple(options["kinds"]), tuple(options["languages"])
    recipes, builds = tuple(options["recipes"]), tuple(options["builds"])
    selection = Selection(recipes, builds, kinds, languages, options["where"])
    folder = WorkFolder(settings, live=options["live"])
    with folder.opened() as snapshot:
        made = make_release(open_warehouse(settings), name, selection, terms, snapshot=snapshot)
    return _loaded(_StoredRelease(made.release, folder, made))
