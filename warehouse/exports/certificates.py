"""The certificate of an export: what each sample claims, and where that stands in its files.

It is written beside the data, a line a sample, and verify_certificate.py checks it without
callwright. Places are JSON pointers into the rows as they were written, found by what they hold,
so that a format needs no code of its own. docs/certificate.md describes it for others.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from callwright.warehouse.exports.verify_certificate import (
    CERTIFICATE,
    SCHEMA,
    chosen_of,
    digest,
    fit_problem,
    opened,
    resolve,
)
from callwright.warehouse.exports.writing import WrittenRow, hash_of
from callwright.warehouse.records import Evidence, GoldCall, ReplyTurn, Sample, UserTurn
from callwright.warehouse.releases import ReleaseStream
from callwright.warehouse.wire_names import NO_NAMES, WireNames

VERIFIER = "verify_certificate.py"
SCHEMA_ID = "urn:callwright:certificate:1"
COUNTED = ("samples", "rows", "calls", "said", "derived", "open", "accepted", "end_states")
_SAID = ("span", "normalised")
_SPEAKERS = {"user": {"user", "human"}, "assistant": {"assistant", "agent", "gpt", "reply"}}
Fields = dict[str, Any]  # lines and rows hold any JSON


class _Words(NamedTuple):
    """Words of a sample that evidence may point to: the turn, its part, and who says them."""

    turn: int
    part: str
    text: str
    speaker: str


class _Node(NamedTuple):
    """A value in a row: its JSON pointer, and the objects that hold it, the nearest first."""

    at: str
    value: Any
    holders: tuple[Fields, ...]


class _CallPlace(NamedTuple):
    """Where a call may stand: its arguments and its name, or accepted values under the name."""

    at: str
    arguments: Any
    name: str
    name_at: str


class _PlacedRow(NamedTuple):
    """A row of the certificate, and the documents of the tools that it has by name."""

    about: Fields
    row: Any
    documents: dict[str, Any]


class Certificate(NamedTuple):
    """A certificate that was written: its files, and what it counts by name."""

    files: list[Path]
    counts: Mapping[str, int]


class CertificateWriter:
    """Writes the certificate of an export, sample by sample, and its header at the end."""

    def __init__(self, source: ReleaseStream, folder: Path) -> None:
        """Begin the certificate of a release in the folder of an export."""
        self._counts: Counter[str] = Counter()
        self._source, self._folder = source, folder
        self._body = folder / f".{CERTIFICATE}"
        self._file = self._body.open("wb")
        self._hash = sha256()
        self._files: dict[str, Fields] = {}  # layout and rows
        self._people: dict[str, str] = {}
        self._looked: Counter[str] = Counter()

    def add(
        self,
        sample: Sample,
        split: str,
        written: Sequence[WrittenRow],
        names: WireNames | None = None,
        canary: str = "",
    ) -> Counter[str]:
        """Write the line of a sample with these rows, if it has any; return what it counts."""
        if not written:
            return Counter()
        for row in written:
            about = self._files.setdefault(row.file, {"layout": row.layout, "rows": 0})
            about["rows"] += 1
        line = self._line(sample, split, written, names or NO_NAMES)
        text = orjson.dumps(line | ({"canary": canary} if canary else {})) + b"\n"
        self._hash.update(text)
        self._file.write(text)
        counts = Counter(samples=1, rows=len(written), calls=len(line["calls"]))
        for due in line["calls"]:
            counts["accepted"] += len(due["accepted"])
            counts.update(claim["standing"] for claim in due["claims"])
        counts["end_states"] += "end_state" in line
        self._looked.update(line["people"])
        self._counts.update(counts)
        return counts

    def finish(
        self, format_name: str, written: Iterable[Path], names: WireNames | None
    ) -> Certificate:
        """Write the header before the lines, and the schema and verifier beside it.

        The header has the hashes of the files `written`.
        """
        self._file.close()
        release = self._source.release
        counts = {name: self._counts[name] for name in COUNTED}
        header: Fields = {
            "kind": "certificate",
            "schema": SCHEMA_ID,
            "format": format_name,
            "release": {
                "name": release.name,
                "version": release.version,
                "content_hash": release.content_hash,
                "samples": release.samples,
            },
            "counts": counts,
            "files": {
                (name := path.relative_to(self._folder).as_posix()): {
                    "sha256": hash_of(path),
                    **self._files.get(name, {}),
                }
                for path in sorted(written)
            },
            "names": {} if names is None else names.document,
            "readers": [_reader(row) for row in self._source.readers if row["planted"]],
            "people": [{"person": one, "samples": n} for one, n in sorted(self._looked.items())],
            "cheats": [dict(row) for row in self._source.cheats],
            "lines_sha256": self._hash.hexdigest(),
        }
        path = self._folder / CERTIFICATE
        with path.open("wb") as file, self._body.open("rb") as body:
            file.write(orjson.dumps(header) + b"\n")
            while part := body.read(1 << 20):
                file.write(part)
        self._body.unlink()
        shipped = [self._folder / SCHEMA, self._folder / VERIFIER]
        for one in shipped:
            one.write_bytes(files("callwright.warehouse.exports").joinpath(one.name).read_bytes())
        return Certificate([path, *shipped], counts)

    def close(self) -> None:
        """Close the file of lines."""
        self._file.close()

    def _line(
        self, sample: Sample, split: str, written: Sequence[WrittenRow], names: WireNames
    ) -> Fields:
        words, grounds = [*_words_of(sample)], self._source.grounds(sample)
        calls = [*self._calls(sample, grounds.evidence, names)]
        rows = [_placed(one, words, calls, is_task=_is_task(sample)) for one in written]
        placed = {(one["turn"], one["part"]) for row in rows for one in row.about["words"]}
        called = {(one["turn"], one["call"]) for row in rows for one in row.about["calls"]}
        calls = [one for one in calls if (one["turn"], one["call"]) in called]
        for claim in (claim for one in calls for claim in one["claims"]):
            claim["said"] = [one for one in claim["said"] if (one["turn"], one["part"]) in placed]
            claim["standing"] = (
                "said" if claim["said"] else "derived" if claim["derived"] else "open"
            )
        documents = {name: one for row in rows for name, one in row.documents.items()}
        for row in rows:
            _note_fits(calls, row, {**documents, **row.documents})
        for one in grounds.people:
            self._people.setdefault(one, f"person-{len(self._people) + 1}")
        line: Fields = {
            "kind": "sample",
            "key": sample.key,
            "split": split,
            "words": [
                {
                    "turn": one.turn,
                    "part": one.part,
                    "length": len(one.text),
                    "sha256": digest(one.text),
                }
                for one in words
                if (one.turn, one.part) in placed
            ],
            "calls": calls,
            "grade": grounds.grade,
            "readers": list(grounds.readers),
            "people": [self._people[one] for one in grounds.people],
            "rows": [row.about for row in rows],
        }
        return line | ({"end_state": _end_state(sample)} if _is_task(sample) else {})

    def _calls(
        self, sample: Sample, evidence: Sequence[Evidence], names: WireNames
    ) -> Iterator[Fields]:
        """Yield the gold calls under their names in the export, with what their values rest on."""
        for turn, of_turn in sample.call_turns:
            allowed = [*self._source.allowances(sample, turn, self._source.tools)]
            for place, call in enumerate(of_turn.calls):
                arguments = names.arguments(call.tool, call.arguments)
                own = dict(zip(arguments, call.arguments, strict=True))
                yield {
                    "turn": turn,
                    "call": place,
                    "tool": names.tool(call.tool),
                    "arguments": arguments,
                    "claims": [
                        {"argument": name, **_rests_on(own[name], call, turn, evidence)}
                        for name in arguments
                    ],
                    "accepted": [
                        {
                            "sort": one.sort,
                            "argument": (name := names.parameter(one.argument)),
                            "value": arguments[name] if one.sort == "order" else one.value,
                            "tool": names.tool(one.tool),
                        }
                        for one in allowed
                        if one.call == place
                    ],
                }


def _note_fits(calls: Iterable[Fields], row: _PlacedRow, documents: Mapping[str, Any]) -> None:
    """Note of the calls in a row whether their schemas take them; imported ones may not be."""
    by_place = {(one["turn"], one["call"]): one for one in calls}
    for place in row.about["calls"]:
        due = by_place[place["turn"], place["call"]]
        if due["tool"] in documents:
            given = opened(resolve(row.row, place["at"]))
            given = given if "name_at" in place else chosen_of(given, due["arguments"])
            problem = fit_problem(documents[due["tool"]], given, due["accepted"])
            place["fits"] = not problem


def _words_of(sample: Sample) -> Iterator[_Words]:
    for at, turn in enumerate(sample.turns):
        if isinstance(turn, UserTurn):
            yield _Words(at, "text", turn.text, "user")
            if turn.external is not None:
                yield _Words(at, "message", turn.external.text, "user")
        elif isinstance(turn, ReplyTurn):
            yield _Words(at, "text", turn.text, "assistant")


def _rests_on(
    name: str, call: GoldCall, turn: int, evidence: Iterable[Evidence]
) -> dict[str, list[Any]]:
    """Return what an argument of a call rests on: words that say it, or what it follows from."""
    own = [one for one in call.evidence if _root(one) == name]
    found = [one for one in evidence if _root(one) == name and (one.turn or 0) < turn]
    known = [one for one in found if any(_place(one) == _place(other) for other in own)]
    said, derived = list[Fields](), list[str]()
    for one in known or found or own:
        if one.kind not in _SAID:
            derived.append(one.kind)
        elif one.turn is not None and one.start is not None and one.quote:
            part = "message" if one.in_message else "text"
            place = {"turn": one.turn, "part": part, "start": one.start, "end": one.end}
            is_word = str(call.arguments[name]).casefold() == one.quote.casefold()
            rule = "verbatim" if is_word else "normalised"
            said.append({**place, "quote": one.quote, "rule": rule})
    return {"said": said, "derived": derived}


def _root(evidence: Evidence) -> str:
    return evidence.argument.partition(".")[0].partition("[")[0]


def _place(evidence: Evidence) -> tuple[object, ...]:
    return evidence.kind in _SAID, evidence.turn, evidence.start, evidence.in_message


def _is_task(sample: Sample) -> bool:
    return bool(sample.changes or sample.policy_case)


def _end_state(sample: Sample) -> Fields:
    """Return how the world of a task has to end, and the chain of calls that leads there."""
    changes = [one.model_dump(mode="json") for one in sample.changes]
    return {
        "world": sample.facts.environment,
        "seed": sample.simulation_seed,
        "sha256": digest(orjson.loads(orjson.dumps(changes))),
        "chain": len(sample.all_calls),
        "chain_sha256": digest([[call.tool, call.arguments] for call in sample.all_calls]),
    }


def _reader(row: Mapping[str, Any]) -> Fields:
    """Return how well a model reads: defects of a sort that it caught, of those planted."""
    names = ("reader", "language", "family", "defect", "planted", "caught", "doubles")
    counted = {name: row[name] for name in (*names, "doubted_doubles")}
    return counted | {"low": row["caught_low"], "high": row["caught_high"]}


def _placed(
    written: WrittenRow, words: Sequence[_Words], calls: Sequence[Fields], *, is_task: bool
) -> _PlacedRow:
    """Return where the words, calls and tools of a sample stand in a row."""
    row = orjson.loads(written.text)
    nodes = [*_nodes(row, "", ())]
    names = {one["tool"] for one in calls}
    documents = dict[str, _Node]()
    for node in nodes:
        if _is_tool(node.value) and node.value["name"] in names:
            documents.setdefault(node.value["name"], node)
    about: Fields = {
        "file": written.file,
        "row": written.row,
        "sha256": digest(row),
        "words": [*_words_in(nodes, words)],
        "calls": [*_calls_in(nodes, calls, names)],
        "tools": [
            {"tool": name, "at": node.at, "sha256": digest(node.value)}
            for name, node in documents.items()
        ],
    }
    if written.layout == "opaque":
        about["copy"] = row
    tasks = [node.at for node in nodes if is_task and _is_sample(node.value)]
    if tasks:
        about["end_state"] = tasks[0]
    return _PlacedRow(about, row, {name: node.value for name, node in documents.items()})


def _is_tool(value: object) -> bool:
    return isinstance(value, dict) and "name" in value and isinstance(value.get("parameters"), dict)


def _is_sample(value: object) -> bool:
    return isinstance(value, dict) and {"turns", "facts", "kind"} <= value.keys()


def _nodes(value: Any, at: str, holders: tuple[Fields, ...]) -> Iterator[_Node]:  # noqa: ANN401 - any JSON
    """Yield a value and all in it, also in strings that are JSON text; of tools only themselves."""
    yield _Node(at, value, holders)
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return
        yield _Node(at, value, holders)
    if isinstance(value, dict) and not _is_tool(value):
        for name, one in value.items():
            yield from _nodes(one, f"{at}/{_token(name)}", (value, *holders[:1]))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _nodes(one, f"{at}/{number}", holders)


def _words_in(nodes: Sequence[_Node], words: Iterable[_Words]) -> Iterator[Fields]:
    """Yield where a row has the words of turns, in their order, in the mouth of who says them."""
    since = 0
    for one in words:
        for number in range(since, len(nodes)) if one.text else ():
            node = nodes[number]
            if isinstance(node.value, str) and one.text in node.value and _is_by(node, one.speaker):
                offset = node.value.index(one.text)
                yield {"turn": one.turn, "part": one.part, "at": node.at, "offset": offset}
                since = number
                break


def _is_by(node: _Node, speaker: str) -> bool:
    said_by = (one for holder in node.holders for one in holder.values() if isinstance(one, str))
    return not _SPEAKERS[speaker].isdisjoint(said_by)


def _calls_in(nodes: Sequence[_Node], calls: Iterable[Fields], names: Set[str]) -> Iterator[Fields]:
    """Yield where a row has the gold calls of a sample, each place once."""
    left = [*_call_places(nodes, names)]
    for due in calls:
        for place in left:
            if place.name == due["tool"] and _is_due(place, due["arguments"]):
                named = {"name_at": place.name_at} if place.name_at else {}
                yield {"turn": due["turn"], "call": due["call"], "at": place.at, **named}
                left.remove(place)
                break


def _is_due(place: _CallPlace, due: Fields) -> bool:
    if place.name_at:
        return digest(place.arguments) == digest(due)
    return digest(chosen_of(place.arguments, due)) == digest(due)


def _call_places(nodes: Iterable[_Node], names: Set[str]) -> Iterator[_CallPlace]:
    """Yield where a row may have calls of tools with these names.

    A call is an object beside its tool's name, an object under the name with lists of accepted
    values, or as far along a list of objects as its name along a list of names.
    """
    for node in nodes:
        held = node.value if isinstance(node.value, dict) else {}
        for key, name in held.items():
            if isinstance(name, str) and name in names:
                yield from _beside(node.at, held, key, name)
            elif isinstance(name, list) and name and set(map(str, name)) <= names:
                yield from _along(node.at, held, key, name)
            elif key in names and len(held) == 1 and _is_accepted(name):
                yield _CallPlace(f"{node.at}/{_token(key)}", name, key, "")


def _is_accepted(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(one, list) for one in value.values())


def _beside(at: str, held: Fields, key: str, name: str) -> Iterator[_CallPlace]:
    for other, value in held.items():
        if (arguments := _as_object(value)) is not None:
            name_at = f"{at}/{_token(key)}"
            yield _CallPlace(f"{at}/{_token(other)}", arguments, name, name_at)


def _along(at: str, held: Fields, key: str, names: Sequence[str]) -> Iterator[_CallPlace]:
    for other, listed in held.items():
        values = listed if isinstance(listed, list) else []
        for number, (name, one) in enumerate(zip(names, values, strict=False)):
            if isinstance(one, dict):
                name_at = f"{at}/{_token(key)}/{number}"
                yield _CallPlace(f"{at}/{_token(other)}/{number}", one, name, name_at)


def _as_object(value: object) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
    return value if isinstance(value, dict) else None


def _token(name: str) -> str:
    """Return a name as it stands in a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
