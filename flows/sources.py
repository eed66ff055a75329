"""Samples from files: those that a recipe takes, and releases of other people's samples.

A recipe's files are read once into a subfolder of the work folder, record by record, before its
build is opened. A file may be larger than memory, and interrupted reading continues where it
stopped. The result is named by the files' content and by how they are read, so that the same
files are not read again.

If a recipe takes only some of them, these are chosen for diversity: by tool, outcome, error and
feedback, and by how new their wording is. Records with the same user messages and the same calls
are folded into one, with their count. Memory holds three numbers for each record; of a stratum,
the texts of at most a few hundred records are read.
"""

import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import file_digest
from heapq import nsmallest
from itertools import chain, islice
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.flows.progress import Progress
from callwright.flows.recipe import PersonalDataRules, Recipe, SampleSource, Stratum
from callwright.flows.settings import Settings
from callwright.generators.catalogs import Problem
from callwright.generators.imports.answers import trace_of_call
from callwright.generators.imports.reading import SOURCES, ImportedRecord, read_samples
from callwright.generators.kinds import kind_rows
from callwright.generators.taken import STAGE, print_of
from callwright.warehouse.batches import batches
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import (
    Origin,
    Release,
    ResultTurn,
    Sample,
    TakenRecord,
    Tool,
    UserTurn,
    content_key,
)
from callwright.warehouse.releases import check_release_name, freeze, list_releases
from callwright.warehouse.rows import Row, body_of, rows_of
from callwright.warehouse.store import Warehouse

READER_VERSION = 5  # raised when the same files would be read as other records
_AT_ONCE = 1000  # records between two marks of how far reading has come
_RECORDS, _TOOLS, _MARK, _DONE = "records.jsonl", "tools.jsonl", "mark.json", "done.json"
_MOST_TOOLS = 128  # of a recipe, beside a conversation whose row names none
_MOST_PROBLEMS = 5
_BETWEEN = 15.0  # seconds between two sentences on how far reading is
_POOL = 400  # records of a stratum among which the newest are looked for
_PER_CHOSEN = 4  # and so many for each that is chosen of it
Encode = Callable[[Sequence[str]], Sequence[Sequence[float]]]


class Chosen(NamedTuple):
    """The chosen records by position, each with its number of duplicates.

    `folded` and `not_chosen` count the others.
    """

    seen: dict[int, int]
    folded: int
    not_chosen: int


class ReadSource(NamedTuple):
    """What was read of a source into its folder: records, unreadable ones, personal data."""

    folder: Path
    records: int = 0
    unreadable: int = 0
    personal: dict[str, int] = {}  # noqa: RUF012 - by kind, {} where none was looked for
    chosen: Chosen | None = None  # None where all are taken

    def all(self) -> Iterator[TakenRecord]:
        """Yield the records, in their order."""
        with (self.folder / _RECORDS).open("rb") as file:
            yield from map(TakenRecord.model_validate_json, file)

    def taken(self) -> Iterator[TakenRecord]:
        """Yield the records that are taken, and those without a sample."""
        if self.chosen is None:
            yield from self.all()
            return
        for place, record in enumerate(self.all()):
            if record.sample is None or place in self.chosen.seen:
                yield record.with_changes(seen=self.chosen.seen.get(place, 1))

    @property
    def asked(self) -> int:
        """How many records should become samples, or report why not."""
        return self.records if self.chosen is None else self.unreadable + len(self.chosen.seen)

    def tools(self) -> Iterator[Tool]:
        """Yield the tools in the records."""
        with (self.folder / _TOOLS).open("rb") as file:
            yield from map(Tool.model_validate_json, file)


def read_sources(recipe: Recipe, settings: Settings, progress: Progress) -> None:
    """Read what the recipe takes from files, unless it was read before.

    Raises ConfigurationError if there is nothing.
    """
    for source in recipe.sources:
        folder = _folder(recipe, source, settings)
        if not (folder / _DONE).exists():
            progress.say(f"Reading {', '.join(map(str, source.paths))} ({source.format}).")
            read = _Reading(source, recipe.personal_data, folder).carry_on(progress)
            lost = f", {read.unreadable} of them unreadable" if read.unreadable else ""
            progress.say(f"{count_of(read.records, 'record')} read{lost}.")
        if source.take is not None and not _choice(folder, source).exists():
            from callwright.validators.embeddings import close_encoder, vectors_of

            chosen_records = choose(ReadSource(folder).all, source.take, source.by, vectors_of)
            close_encoder()
            listed = [[place, seen] for place, seen in chosen_records.seen.items()]
            _replace(
                _choice(folder, source),
                orjson.dumps([listed, chosen_records.folded, chosen_records.not_chosen]),
            )


def told_of_sources(recipe: Recipe, settings: Settings) -> Iterator[str]:
    """Yield remarks on the files that a recipe takes samples from."""
    personal_counts, all_taken = Counter[str](), True
    for read in known_sources(recipe, settings):
        personal_counts.update(read.personal)
        if read.chosen is not None:
            all_taken = False
            yield (
                f"{len(read.chosen.seen)} of {count_of(read.records, 'record')} taken. Of the"
                f" others, {read.chosen.folded} repeat another one, {read.chosen.not_chosen} were"
                f" not drawn and {read.unreadable} are unreadable."
            )
    done = "replaced" if recipe.personal_data.mode == "on" else "found and kept"
    if personal_counts:
        drawn = "" if all_taken else " (in all records; the funnel counts those that were drawn)"
        listed = ", ".join(f"{count} {kind}" for kind, count in personal_counts.most_common())
        yield f"Personal data {done}: {listed}{drawn}."
    elif recipe.sources and recipe.personal_data.mode == "off":
        yield (
            "Personal data was not looked for. Set `personal_data: on` to replace it, or `report`"
            " to count it."
        )


def taken_sources(recipe: Recipe, settings: Settings) -> list[ReadSource]:
    """Return what was read for a recipe. Raises ConfigurationError if it was not read yet."""
    sources_read = []
    for source in recipe.sources:
        folder = _folder(recipe, source, settings)
        if not (folder / _DONE).exists() or (
            source.take is not None and not _choice(folder, source).exists()
        ):
            raise ConfigurationError(
                f"The file {str(source.paths[0])!r} of the recipe {recipe.name!r} has not been read"
                " yet."
            )
        read = taken_in(folder)
        if source.take is not None:
            listed, folded, not_chosen = orjson.loads(_choice(folder, source).read_bytes())
            read = read._replace(chosen=Chosen(dict(listed), folded, not_chosen))
        sources_read.append(read)
    return sources_read


def known_sources(recipe: Recipe, settings: Settings) -> list[ReadSource]:
    """Return what `taken_sources` does; empty if files are gone or have changed since the build."""
    try:
        return taken_sources(recipe, settings)
    except ConfigurationError:
        return []


def taken_in(folder: Path) -> ReadSource:
    """Return what was read into a folder."""
    return ReadSource(folder, **orjson.loads((folder / _DONE).read_bytes()))


def taken_tools(recipe: Recipe, settings: Settings) -> tuple[Tool, ...]:
    """Return the tools in the records of a recipe, each once."""
    tools_by_key: dict[str, Tool] = {}
    for read in taken_sources(recipe, settings):
        taken = () if read.chosen is None else read.taken()
        named = {key for one in taken if one.sample for key in one.sample.candidates}
        tools_by_key |= {
            tool.key: tool for tool in read.tools() if read.chosen is None or tool.key in named
        }
    return tuple(tools_by_key.values())


def taken_records(recipe: Recipe, settings: Settings, own: Sequence[Tool]) -> Iterator[TakenRecord]:
    """Yield the records that a recipe takes; a record without tools gets those of the recipe."""
    for read in taken_sources(recipe, settings):
        yield from (_with_tools(record, own) for record in read.taken())


def _choice(folder: Path, source: SampleSource) -> Path:
    """Return the path of the file with the chosen records of a source."""
    return folder / f"chosen-{content_key([source.take, *source.by])}.json"


def source_key(recipe: Recipe, source: SampleSource) -> str:
    """Return the key of what is read of a source, which depends on its files and how it is read."""
    source_settings = source.model_dump(mode="json", exclude={"path", "take", "by"})
    personal = recipe.personal_data.model_dump(mode="json", exclude={"vault"})
    own = SOURCES.source_of(source.format)  # a reader in a file of one's own, which may be edited
    return content_key(
        [
            READER_VERSION,
            source_settings,
            personal,
            _contents(source.paths),
            own.digest if own else "",
        ]
    )


def files_key(paths: Sequence[Path]) -> str:
    """Return a key of the contents of files and folders. ConfigurationError if one is missing."""
    return content_key(_contents(paths))


def _contents(paths: Sequence[Path]) -> list[JsonValue]:
    contents: list[JsonValue] = []
    for path in paths:
        if not path.exists():
            raise ConfigurationError(f"There is no file or folder {str(path)!r}.")
        files = (
            sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        )
        contents += [
            [str(one.relative_to(path.parent)), _digest(one, one.stat().st_mtime_ns)]
            for one in files
        ]
    return contents


@lru_cache(1024)
def _digest(file: Path, _changed: int) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "blake2b").hexdigest()[:32]


def _folder(recipe: Recipe, source: SampleSource, settings: Settings) -> Path:
    return settings.home / "sources" / source_key(recipe, source)


class _Mark(NamedTuple):
    """How far reading has come: records, unreadable ones, and the lengths of their files."""

    records: int = 0
    unreadable: int = 0
    at: int = 0
    tools_at: int = 0
    vault_at: int = 0
    salt: str = ""
    personal: dict[str, int] = {}  # noqa: RUF012 - never changed in place


class _Reading:
    def __init__(self, source: SampleSource, rules: PersonalDataRules, folder: Path) -> None:
        self._source, self._rules, self._folder = source, rules, folder
        self._form = SOURCES.named(source.format)
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / _MARK
        self._mark = (
            _Mark(**orjson.loads(kept.read_bytes())) if kept.exists() else _Mark(salt=token_hex(16))
        )

    def carry_on(self, progress: Progress) -> ReadSource:
        """Read the remaining records."""
        every = chain.from_iterable(read_samples(self._form, path) for path in self._source.paths)
        read = islice(every, self._source.rows)
        for _ in islice(read, self._mark.records):
            pass  # these were read before: what was made of them is in the folder
        if self._mark.records:
            keys_before = {tool.key for tool in ReadSource(self._folder).tools()}
        else:
            keys_before = set[str]()
        told_at = time.monotonic()
        with ExitStack() as opened:
            records = self._opened(opened, self._folder / _RECORDS, self._mark.at)
            tools = self._opened(opened, self._folder / _TOOLS, self._mark.tools_at)
            vault = None
            if self._rules.vault:
                vault = self._opened(opened, self._rules.vault, self._mark.vault_at)
            for some in batches(read, _AT_ONCE):
                new = {
                    tool.key: tool
                    for record in some
                    for tool in record.tools
                    if tool.key not in keys_before
                }
                keys_before |= new.keys()
                taken = [self._taken(record, vault) for record in some]
                tools.writelines(body_of(tool).encode() + b"\n" for tool in new.values())
                records.writelines(body_of(one).encode() + b"\n" for one in taken)
                for file in filter(None, (records, tools, vault)):
                    file.flush()
                mark = _Mark(
                    self._mark.records + len(some),
                    self._mark.unreadable + sum(one.sample is None for one in some),
                    records.tell(),
                    tools.tell(),
                    vault.tell() if vault else 0,
                    self._mark.salt,
                    dict(
                        sum((Counter(one.replaced) for one in taken), Counter(self._mark.personal))
                    ),
                )
                _replace(self._folder / _MARK, orjson.dumps(mark._asdict()))
                self._mark = mark
                if time.monotonic() > told_at + _BETWEEN:
                    told_at = time.monotonic()
                    progress.say(f"{count_of(self._mark.records, 'record')} read so far.")
        done = {
            "records": self._mark.records,
            "unreadable": self._mark.unreadable,
            "personal": self._mark.personal,
        }
        _replace(self._folder / _DONE, orjson.dumps(done))
        (self._folder / _MARK).unlink(missing_ok=True)  # and the salt with it
        return taken_in(self._folder)

    def _opened(self, opened: ExitStack, path: Path, at: int) -> BinaryIO:
        """Open a file to continue, cut to its length at the last mark, and private to this user."""
        path.touch(mode=0o600)
        file = opened.enter_context(path.open("r+b"))
        file.truncate(at)
        file.seek(at)
        return file

    def _taken(self, record: ImportedRecord, vault: BinaryIO | None) -> TakenRecord:
        """Return a record as it is stored, without personal data if the recipe says so."""
        taken = _taken(record, self._source)
        if self._rules.mode == "off":
            return taken
        from callwright.generators.taken.personal_data import (
            without_personal_data,
            without_personal_notes,
        )

        notes = (taken.error, taken.feedback, *taken.problems)  # what they quote is personal too
        if taken.sample is None:
            if self._rules.mode == "on":
                failed, feedback, *problems = without_personal_notes(notes, self._mark.salt)
                taken = taken.with_changes(
                    error=failed, feedback=feedback, problems=tuple(problems)
                )
            return taken
        # who says the same stays the same, and nobody can try names
        seed = f"{self._mark.salt}:{print_of(taken.sample).hex()}"
        try:
            replacement = without_personal_data(taken.sample, record.tools, seed, notes)
            if self._rules.mode == "on":
                _check_evidence(taken.sample, replacement.sample, record.tools)
        except RecordError as error:
            return taken.with_changes(
                sample=None, kind="", language="", error="", feedback="", problems=(str(error),)
            )
        if vault is not None and replacement.values:
            vault.write(orjson.dumps({"where": taken.where, "values": replacement.values}) + b"\n")
        if self._rules.mode == "report" or not replacement.values:
            return taken.with_changes(replaced=replacement.counts)
        failed, feedback, *problems = replacement.notes
        return taken.with_changes(
            sample=replacement.sample,
            replaced=replacement.counts,
            error=failed,
            feedback=feedback,
            problems=tuple(problems),
        )


def _check_evidence(before: Sample, after: Sample, tools: Sequence[Tool]) -> None:
    """Raise RecordError if a value of a call was found in the conversation, and is not any more.

    It would be a right call that replacing made wrong.
    """
    if before == after:
        return
    from callwright.validators.evidence import find_in_sample

    known = {tool.name for tool in tools}
    called = {call.tool: call for call in before.all_calls if call.tool not in known}
    # a row that names no tools has those of the recipe later: here their parameters are enough
    named = [
        Tool(
            name=name,
            description="",
            category="",
            parameters={"type": "object", "properties": {name: {} for name in call.arguments}},
        )
        for name, call in called.items()
    ]
    standings = [
        [(turn, one.claim.name, one.evidence is not None) for turn, one in found]
        for found in (find_in_sample(sample, [*tools, *named]) for sample in (before, after))
    ]
    found_after = {(turn, name) for turn, name, is_found in standings[1] if is_found}
    for turn, name, is_found in standings[0]:
        if is_found and (turn, name) not in found_after:
            raise RecordError(
                f"Its personal data can't be replaced consistently: what says {name!r} before turn"
                f" {turn} would say another value."
            )


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_suffix(".new")
    beside.write_bytes(content)
    beside.replace(path)


def _taken(record: ImportedRecord, source: SampleSource) -> TakenRecord:
    """Return a record as it is kept; its place is relative to the source path's folder."""
    places = [f"{path.parent}/" for path in source.paths]
    where = next(
        (record.where.removeprefix(place) for place in places if record.where.startswith(place)),
        record.where,
    )
    sample = record.sample
    return TakenRecord(
        where=where,
        format=source.format,
        kind=sample.kind if sample else "",
        language=sample.language if sample else "",
        sample=sample,
        problems=tuple(one.message for one in record.problems[:_MOST_PROBLEMS]),
        outcome=record.signals.outcome or (_outcome_of(sample) if sample else ""),
        error=record.signals.error,
        feedback=record.signals.feedback,
        origin=Origin(stage=STAGE),
    )


def _outcome_of(sample: Sample) -> str:
    """Return how a conversation's calls ended by their results: "ok", "error", or "" for none."""
    results = [
        result for turn in sample.turns if isinstance(turn, ResultTurn) for result in turn.results
    ]
    is_wrong = any(isinstance(one, dict) and one.get("error") for one in results)
    return "error" if is_wrong else "ok" if results else ""


def _with_tools(record: TakenRecord, own: Sequence[Tool]) -> TakenRecord:
    """Return a record that names no tools with the recipe's: those that it calls, and others."""
    sample = record.sample
    if sample is None or sample.candidates:
        return record
    called = {call.tool for call in sample.all_calls}
    by_name: dict[str, Tool] = {}
    for tool in sorted(
        own, key=lambda one: (one.name not in called, one.language != sample.language)
    ):
        by_name.setdefault(tool.name, tool)
    if lacking := sorted(called - by_name.keys()):
        named = ", ".join(map(repr, lacking[:3]))
        reason = (
            f"It calls {named}, and neither its row nor the recipe's `tools` have a document of"
            " that."
        )
        return record.with_changes(sample=None, kind="", problems=(reason, *record.problems))
    if trace := trace_of_call(sample.turns, by_name):
        reason = f"The words {trace!r} look like a call, and none can be read there."
        return record.with_changes(sample=None, kind="", problems=(reason, *record.problems))
    shown = {tool.key: tool for tool in islice(by_name.values(), _MOST_TOOLS)}
    category = sample.category or next((tool.category for tool in shown.values()), "")
    taken = sample.with_changes(candidates=tuple(shown), category=category)
    return record.with_changes(sample=taken)


class ImportedRelease(NamedTuple):
    """The release, how many records can't be samples, and all problems."""

    release: Release
    left_out: int
    problems: list[Problem]


def import_release(warehouse: Warehouse, name: str, form: str, path: Path) -> ImportedRelease:
    """Store the samples of a file or folder with their tools, and make a release of them.

    Raises ConfigurationError for an unknown format, a name that is taken, or if there is no
    sample.
    """
    check_release_name(name)
    source = SOURCES.named(form)
    is_new = all(one.name != name for one in list_releases(warehouse))
    keys: set[str] = set()
    problems: list[Problem] = []
    left_out = 0
    for records in batches(read_samples(source, path), _AT_ONCE):
        problems += [problem for record in records for problem in record.problems]
        left_out += sum(record.sample is None for record in records)
        tables: dict[str, dict[str, Row]] = {"tools": {}, "samples": {}}  # by key
        for record in records:
            try:
                if record.sample:
                    rows = [*rows_of([*record.tools, record.sample], datetime.now(UTC))]
                else:
                    rows = []
            except RecordError as error:
                problems.append(Problem(where=record.where, kind="unreadable", message=str(error)))
                left_out += 1
                continue
            for table, row in rows:
                tables[table][row["key"]] = row
        new = [row for key, row in tables["samples"].items() if key not in keys]
        if is_new and new:
            warehouse.put_rows({"tools": [*tables["tools"].values()], "samples": new})
        keys |= tables["samples"].keys()
    if not keys:
        raise ConfigurationError(f"{str(path)!r} holds no samples in the format {form!r}.")
    if is_new:
        warehouse.put_rows({"kinds": kind_rows()})
    return ImportedRelease(
        freeze(warehouse, name, sorted(keys), f"Imported from {form}."), left_out, problems
    )


def choose(
    read: Callable[[], Iterable[TakenRecord]], take: int, by: Sequence[Stratum], encode: Encode
) -> Chosen:
    """Choose `take` records, the same each time, evenly over strata as far as they go.

    `read` yields the records; `encode` gives a vector of length one for each text.
    """
    import numpy as np

    firsts: dict[bytes, int] = {}
    seen, places, strata, names = array("L"), array("L"), array("L"), dict[str, int]()
    for place, record in enumerate(read()):
        if record.sample is None:
            continue
        print_ = print_of(record.sample)
        if print_ in firsts:
            seen[firsts[print_]] += 1
            continue
        firsts[print_] = len(seen)
        seen.append(1)
        places.append(place)
        strata.append(names.setdefault(_stratum(record, by), len(names)))
    shares = _shares(
        np.bincount(np.frombuffer(strata, dtype=strata.typecode), minlength=len(names)).tolist(),
        take,
    )
    pools = _pools(strata, shares, [*firsts])
    wanted = {places[at] for pool in pools for at in pool}
    texts = {
        place: (
            "\n".join(turn.text for turn in record.sample.turns if isinstance(turn, UserTurn))
            if record.sample
            else ""
        )
        for place, record in enumerate(read())
        if place in wanted and record.sample
    }
    chosen = list[int]()
    for pool, share in zip(pools, shares, strict=True):
        said = [texts[places[at]] for at in pool] if share < len(pool) else []
        first = max(range(len(pool)), key=lambda one: seen[pool[one]], default=0)
        chosen += [pool[at] for at in _newest(encode(said), first, share)] if said else pool
    return Chosen(
        {places[at]: seen[at] for at in sorted(chosen)},
        sum(seen) - len(seen),
        len(seen) - len(chosen),
    )


def _stratum(record: TakenRecord, by: Sequence[Stratum]) -> str:
    sample = record.sample
    tools = sorted({call.tool for call in (sample.all_calls if sample else ())})
    return "\n".join(" ".join(tools) if one == "tool" else getattr(record, one) for one in by)


def _shares(sizes: Sequence[int], take: int) -> list[int]:
    """Return even shares for the strata; what a small one leaves goes to the others."""
    shares, left = [0] * len(sizes), take
    for number, at in enumerate(sorted(range(len(sizes)), key=lambda one: sizes[one])):
        shares[at] = min(sizes[at], -(-left // (len(sizes) - number)))
        left -= shares[at]
    return shares


def _pools(
    strata: Sequence[int], shares: Sequence[int], prints: Sequence[bytes]
) -> list[list[int]]:
    """Return for each stratum the records to choose from, in an order independent of arrival."""
    members: list[list[int]] = [[] for _ in shares]
    for at, stratum in enumerate(strata):
        members[stratum].append(at)
    return [
        nsmallest(max(_POOL, _PER_CHOSEN * share), some, key=prints.__getitem__) if share else []
        for some, share in zip(members, shares, strict=True)
    ]


def _newest(rows: Sequence[Sequence[float]], first: int, share: int) -> Iterator[int]:
    """Yield `share` positions of vectors: `first`, then always the one least like those before."""
    import numpy as np

    vectors = np.asarray(rows, dtype=np.float32)
    likest = np.full(len(vectors), -2.0, dtype=np.float32)
    at = first
    for _ in range(share):
        yield at
        likest = np.maximum(likest, vectors @ vectors[at])
        likest[at] = np.inf
        at = int(np.argmin(likest))
