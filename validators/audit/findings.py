"""Findings: what speaks against the gold of a record, where it stands, and what it should be.

Code alone looks here: a finding is an `error` where the words or the tool's document contradict
every value that the data set accepts, a `warning` where code is less sure, and a `note` where
another accepted value is right. Readers add their own (`reading_differs`,
callwright.flows.data_audit.readers).
"""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from hashlib import blake2b
from typing import Literal, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.imports.reading import AcceptedValues, ImportedRecord
from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.samples import schema_of
from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.shifts.turns import is_conversation
from callwright.generators.tools import ArgumentProblem, find_problems, mended
from callwright.generators.transcripts import walk
from callwright.language.schemas import choices_of, fits, kind_of, scalars
from callwright.language.text import fold
from callwright.validators.audit.documented import broken_demand, is_single
from callwright.validators.evidence import (
    Scene,
    ValueFound,
    find_in_calls,
    find_said,
    scene_of,
    stated_in,
)
from callwright.validators.origins import Claim, root_of
from callwright.warehouse.records import GoldCall, Sample, Snapshot, Tool, UserTurn, content_key

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
FindingSort = Literal[
    "unreadable",
    "schema",
    "type",
    "enum",
    "undeclared",
    "required",
    "format",
    "range",
    "unit",
    "day",
    "time",
    "amount",
    "not_said",
    "duplicate",
    "reading_differs",
    "replies_differ",
    "unread",
]

# letters with two digits at least, four digits at least, or groups of three
_CODE = re.compile(r"[A-Z]+[-_]?\d[A-Z\d_-]*\d|\d{4,}|\d{3,}(?:-\d{3,})+", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d?(?:-\d\d?)?|\d\d?-(?:\d\d?-)?\d{4}|\d{8}")
_YEAR, _ROUND = re.compile(r"(?:19|20)\d\d"), 100
_OF_NAMES = ("undeclared", "required")
_NAME = re.compile(r"[A-Z][\w'.-]*(?: [A-Z][\w'.-]*){0,3}")
_NEAR = 0.85  # how like a choice is to what was meant to be it
# where a whole world is known, its ids may be any words with a digit
_WORLD_CODE = re.compile(r"#?(?=[\w-]*\d)[\w-]+")
_WORLD_DAY = re.compile(r"\d{2,4}-\d{2}-\d{2,4}")


class Finding(NamedTuple):
    """What speaks against one gold value, call or record.

    `where` is the place ("file:line" or "file#/row"), `line` its line (0: unknown). `turn` and
    `call` say which gold call (-1: the whole record). `words` are the user's, `document` the
    words of the tool's document that the gold breaks, `expected` what the gold should be (None:
    code cannot say). `key` stays the same as long as the record does. `support` is how many readers
    or published replies say the same against the gold. `verdict` is what people said of it last:
    confirmed, refused or noted; "" if nothing. `request` is what the user said there.
    """

    key: str
    item: str
    where: str
    line: int
    severity: Severity
    sort: FindingSort
    reason: str
    turn: int = -1
    call: int = -1
    tool: str = ""
    argument: str = ""
    words: str = ""
    document: str = ""
    gold: JsonValue = None
    expected: JsonValue = None
    support: int = 0
    verdict: str = ""
    request: str = ""


class _Doubt(NamedTuple):
    """What speaks against a call or a value in it, before it is known how grave that is."""

    sort: FindingSort
    reason: str
    severity: Severity = "error"
    argument: str = ""
    gold: JsonValue = None
    document: str = ""
    words: str = ""
    expected: JsonValue = None


class _DueCall(NamedTuple):
    """A gold call in its scene, with its tool and the accepted values by the path of each."""

    call: GoldCall
    tool: Tool
    accepted: Mapping[str, AcceptedValues]
    scene: Scene
    is_whole: bool

    def values_at(self, path: str, gold: JsonValue) -> tuple[JsonValue, ...]:
        """Return the values that are accepted at a path, the gold alone where none are listed."""
        stated = self.accepted.get(path)
        return stated.values if stated and stated.values else (gold,)

    def quote(self, path: str, value: JsonValue) -> str:
        """Return the user's words that say a value; "" if none do."""
        claim = Claim(path, value, schema_of(self.tool, path), None, self.call)
        said = find_said(claim, stated_in(self.scene.turns), self.scene)
        return said.quote if said else ""


def find_in_record(record: ImportedRecord) -> Iterator[Finding]:
    """Yield the findings of a record, by code alone.

    An unreadable record is a finding too, and a note where its data set has no gold for it.
    """
    if record.sample is None:
        severity: Severity = "error" if record.is_unreadable else "note"
        for problem in record.problems:
            yield _finding(record, _Doubt("unreadable", problem.message, severity))
        return
    seen: set[str] = set()  # calls of several turns may have the same value
    snapshots = [*record.sample.snapshots()]
    for snapshot in snapshots:
        is_whole = not _may_be_partial(record.sample, is_last=snapshot is snapshots[-1])
        for finding in _find_at(record, record.sample, snapshot, is_whole=is_whole):
            what = (finding.sort, finding.tool, finding.argument, finding.gold)
            if (key := content_key([*what])) not in seen:
                seen.add(key)
                yield finding


def _may_be_partial(sample: Sample, *, is_last: bool) -> bool:
    """Whether calls may still lack what is required, as they do while slots are filled."""
    traits = traits_of(sample.kind)
    is_made = is_conversation(sample) or traits.is_executed or traits.is_taken
    return not (is_made or (is_last and traits.is_whole))


def _find_at(
    record: ImportedRecord, sample: Sample, snapshot: Snapshot, *, is_whole: bool
) -> Iterator[Finding]:
    """Yield the findings of the calls that are due at a snapshot."""
    scene = scene_of(sample, record.tools)._replace(turns=snapshot.prefix, calls=snapshot.calls)
    for place, call in enumerate(snapshot.calls):
        accepted = {
            one.argument: one
            for one in record.accepted
            if (one.turn, one.call) == (snapshot.turn, place)
        }
        tool = scene.tools.get(call.tool)
        if tool is None:
            doubts = iter([_unknown_tool(call, scene.tools)])
        else:
            doubts = _of_document(_DueCall(call, tool, accepted, scene, is_whole))
        for doubt in doubts:
            yield _finding(record, doubt, snapshot.turn, place, call.tool)
        for doubt in _of_world(call, record.known, scene) if record.known else ():
            yield _finding(record, doubt, snapshot.turn, place, call.tool)
    yield from _of_words(record, snapshot, scene)


def _of_world(call: GoldCall, known: frozenset[str], scene: Scene) -> Iterator[_Doubt]:
    """Yield the ids and codes of a call that neither the world nor the user can give."""
    said = " ".join(one.text for one in stated_in(scene.turns))
    for name, argument in call.arguments.items():
        for path, value in walk(argument, name):
            # people leave out the sign of a number: "order W7" is #W7
            if not isinstance(value, str) or value in known or value.lstrip("#") in said:
                continue
            if _WORLD_CODE.fullmatch(value) and not _WORLD_DAY.fullmatch(value):
                reason = f"Neither the database nor the user's words have {path} = {value!r}."
                yield _Doubt("not_said", reason, "warning", path, value)


def _unknown_tool(call: GoldCall, tools: Mapping[str, Tool]) -> _Doubt:
    if not tools:  # as in logs that keep none
        reason = "The record has no documents of tools, so this call is held against none."
        return _Doubt("undeclared", reason, "note", gold=call.tool)
    fitting = [
        name
        for name, tool in tools.items()
        if set(tool.required) <= call.arguments.keys() <= set(tool.properties)
    ]
    return _Doubt(
        "undeclared",
        f"No tool of the record is named {call.tool!r}.",
        gold=call.tool,
        document=", ".join(tools),
        expected=fitting[0] if len(fitting) == 1 else None,
    )


# --- what breaks the tool's document


def _of_document(due: _DueCall) -> Iterator[_Doubt]:
    """Yield where a call breaks its tool's document, one doubt for each argument and sort."""
    problems = [
        one
        for one in find_problems(due.tool, due.call.arguments, partial=not due.is_whole)
        if one.sort == "undeclared" or not _is_unknown(one.argument, due.call)
    ]
    seen: set[str] = set()
    yield from _of_names([one for one in problems if one.sort in _OF_NAMES], due)
    of_values = (one for one in problems if one.sort not in _OF_NAMES)
    for problem in sorted(of_values, key=lambda one: one.sort != "type"):
        # items of a list that break the same rule are one doubt
        plain = re.sub(r"\[\d+\]", "", problem.argument)
        if plain not in seen:
            seen.add(plain)
            yield _of_value(problem, due)
    for name, value in due.call.arguments.items():
        if name in due.tool.properties:
            if name not in {root_of(one) for one in seen}:
                yield from _of_description(name, value, due)
            yield from _of_others(name, due)
    yield from _of_undeclared_members(due)


def _is_unknown(argument: str, call: GoldCall) -> bool:
    """Whether the data set leaves an argument open, or a part of it."""
    return UNKNOWN in scalars(call.arguments.get(root_of(argument)))


def _of_names(problems: Sequence[ArgumentProblem], due: _DueCall) -> Iterator[_Doubt]:
    """Yield undeclared arguments, and in one doubt all that is missing.

    One of each is one argument under a wrong name.
    """
    undeclared = [one for one in problems if one.sort == "undeclared"]
    missing = [one for one in problems if one.sort == "required"]
    is_renamed = len(undeclared) == len(missing) == 1
    for problem in undeclared:
        stated = due.accepted.get(problem.argument)
        meant = f" {missing[0].argument!r} is required, and missing." if is_renamed else ""
        yield _Doubt(
            "undeclared",
            f"{problem.message}{meant}",
            "warning" if stated and stated.may_lack else "error",
            problem.argument,
            problem.value,
            ", ".join(due.tool.properties),
        )
    empty = [name for name, one in due.accepted.items() if not (one.values or one.may_lack)]
    lacking = [one.argument for one in missing if not is_renamed and one.argument not in empty]
    right = {name: due.accepted[name].values for name in lacking if name in due.accepted}
    for names, reason in (
        (empty, "No value is accepted, so that no call is right"),
        (lacking, "It is required"),
    ):
        if names:
            yield _Doubt(
                "required",
                f"{reason}: {', '.join(map(repr, names))}.",
                "note" if any(map(right.get, names)) else "error",
                names[0],
            )


def _of_value(problem: ArgumentProblem, due: _DueCall) -> _Doubt:
    """Return the doubt of a value that breaks its schema.

    An expression of the user's for a list or an object may stand for one that is known elsewhere.
    """
    root = root_of(problem.argument)
    path = problem.argument if problem.argument in due.accepted else root
    values = due.values_at(path, due.call.arguments.get(root))
    schema = schema_of(due.tool, path)
    right = [one for one in values if not find_problems(due.tool, {root: one}, partial=True)]
    if path != root:
        right = [one for one in values if fits(one, schema)]
    expected = right[0] if right and path == problem.argument else None
    quote = due.quote(problem.argument, problem.value)
    own_schema = schema_of(due.tool, problem.argument)
    is_expression = isinstance(problem.value, str) and kind_of(own_schema) in ("array", "object")
    reason = problem.message
    if expected is None:
        expected = _fitting_value(problem.value, own_schema)
    if quote and problem.sort == "type" and expected is None:
        reason = f"{reason} The words say {quote!r}, so that the document may be wrong."
    return _Doubt(
        problem.sort,
        reason,
        "note" if is_expression and quote else "warning" if right else "error",
        problem.argument,
        problem.value,
        problem.rule,
        quote,
        expected,
    )


def _fitting_value(value: JsonValue, schema: Mapping[str, JsonValue]) -> JsonValue:
    """Return what a value that breaks its schema was meant to be, None if code cannot say."""
    changed = mended(value, dict(schema))
    if changed != value or type(changed) is not type(value):
        return changed
    choices = {fold(str(one)): one for one in choices_of(dict(schema))}
    near = get_close_matches(fold(str(value)), [*choices], 1, _NEAR)
    if not near or re.findall(r"\d+", near[0]) != re.findall(r"\d+", str(value)):
        return None
    return choices[near[0]]  # type: ignore[return-value] # choices are JSON


def _of_description(name: str, value: JsonValue, due: _DueCall) -> Iterator[_Doubt]:
    """Yield where a value breaks what the parameter's description demands."""
    schema = schema_of(due.tool, name)
    broken = broken_demand(value, schema)
    if broken is None:
        return
    values = due.values_at(name, value)
    fitting = [one for one in values if broken_demand(one, schema) is None]
    quote = due.quote(name, value)
    is_own_form = broken.is_mild and quote.casefold() == str(value).casefold()
    yield _Doubt(
        broken.sort,
        f"The description of {name!r} demands {broken.words}; the value is {value!r}.",
        "note" if fitting or is_own_form else "warning",
        name,
        value,
        broken.words,
        quote,
        fitting[0] if fitting else broken.expected,
    )


def _of_others(name: str, due: _DueCall) -> Iterator[_Doubt]:
    """Yield notes of accepted values that break the schema where the gold does not."""
    for other in due.values_at(name, None)[1:]:
        problems = find_problems(due.tool, {name: other}, partial=True)
        if problems and not find_problems(due.tool, {name: due.call.arguments[name]}, partial=True):
            [problem, *_] = problems
            yield _Doubt(
                problem.sort,
                f"An accepted value is wrong. {problem.message}",
                "note",
                name,
                other,
                problem.rule,
                expected=due.call.arguments[name],
            )
            return


def _of_undeclared_members(due: _DueCall) -> Iterator[_Doubt]:
    """Yield accepted members of objects that the document of the object does not declare.

    An object without any declared member may have others than its document shows.
    """
    owners = {path.rpartition(".")[0] for path in due.accepted if _declares(path, due.tool)}
    for path, stated in due.accepted.items():
        owner, _, member = path.rpartition(".")
        if owner in owners and not _declares(path, due.tool):
            declared = schema_of(due.tool, owner)["properties"]
            yield _Doubt(
                "undeclared",
                f"The object {owner!r} declares no member {member!r}.",
                "warning",
                path,
                stated.values[0] if stated.values else None,
                ", ".join(declared),
            )


def _declares(path: str, tool: Tool) -> bool:
    """Whether an object's document declares the member at a path."""
    owner, _, member = path.rpartition(".")
    return bool(owner) and member in (schema_of(tool, owner).get("properties") or {})


# --- what the words contradict


def _of_words(record: ImportedRecord, snapshot: Snapshot, scene: Scene) -> Iterator[Finding]:
    """Yield where the words contradict the values of calls, or do not say a part of them."""
    for found in find_in_calls(scene):
        place = next(at for at, one in enumerate(snapshot.calls) if one is found.claim.call)
        stated = (
            one.values
            for one in record.accepted
            if (one.turn, one.call, one.argument) == (snapshot.turn, place, found.claim.name)
        )
        others = next(stated, ())[1:]
        doubt = _contradicted(found, others, scene) or _half_said(found, others, scene)
        if doubt is None and not (record.lacks_results or record.known):
            doubt = _invented(found, others, scene)
        if doubt is not None:
            yield _finding(record, doubt, snapshot.turn, place, found.claim.call.tool)


def _contradicted(found: ValueFound, others: Sequence[JsonValue], scene: Scene) -> _Doubt | None:
    """Return a doubt if the words say another day, time or amount than the gold."""
    claim, against = found.claim, found.against
    if against is None:
        return None

    def is_right(value: JsonValue) -> bool:
        arguments = {**claim.call.arguments, claim.name: value}
        changed = claim.call.with_changes(arguments=arguments, evidence=())
        again = find_in_calls(scene._replace(calls=(changed,)))
        return all(one.against is None for one in again if one.claim.name == claim.name)

    right = [*filter(is_right, others)]
    return _Doubt(
        against.sort,
        found.reason,
        "note" if right else "error",
        claim.name,
        claim.value,
        str(claim.schema.get("description") or ""),
        against.words,
        right[0] if right else against.expected,
    )


def _half_said(found: ValueFound, others: Sequence[JsonValue], scene: Scene) -> _Doubt | None:
    """Return a doubt if nobody said what stands behind the comma, and no document asks for it.

    Of "San Diego, CA" the words may say the city alone; a parameter that takes the name of a city
    takes no state.
    """
    claim = found.claim
    description = str(claim.schema.get("description") or "")
    if found.standing != "not_said" or not is_single(description):
        return None
    texts = stated_in(scene.turns)
    said = ""
    for value in (claim.value, *others):
        first, comma, rest = value.partition(", ") if isinstance(value, str) else ("", "", "")
        parts = [find_said(claim._replace(value=one), texts, scene) for one in (first, rest)]
        is_name = all(_NAME.fullmatch(one) for one in (first, rest))
        if not comma or not is_name or parts[0] is None or parts[1] is not None:
            return None
        said = said or parts[0].quote
    return _Doubt(
        "not_said",
        f"Nothing says {claim.value!r}: the words are {said!r}, and no more is asked for.",
        "warning",
        claim.name,
        claim.value,
        description,
        said,
        said,
    )


def _invented(found: ValueFound, others: Sequence[JsonValue], scene: Scene) -> _Doubt | None:
    """Return a doubt if the gold is a code that nobody told, which no candidate can know.

    Days, years and round numbers are no codes: they may be worked out.
    """
    claim, tool = found.claim, scene.tools[found.claim.call.tool]
    if found.standing != "not_said" or not all(map(_is_code, (claim.value, *others))):
        return None
    documents = f"{tool.description} {orjson.dumps(tool.parameters).decode()}"
    texts = stated_in(scene.turns)
    told = (find_said(claim._replace(value=one), texts, scene) for one in others)
    if any(str(one) in documents for one in (claim.value, *others)) or any(told):
        return None
    return _Doubt(
        "not_said",
        f"Nobody says {claim.value!r}, and no earlier result or document has it.",
        "warning",
        claim.name,
        claim.value,
        str(claim.schema.get("description") or ""),
    )


def _is_code(value: JsonValue) -> bool:
    if not isinstance(value, str) or not _CODE.fullmatch(value) or _DAY.fullmatch(value):
        return False
    return not (value.isdecimal() and (int(value) % _ROUND == 0 or _YEAR.fullmatch(value)))


def _finding(
    record: ImportedRecord, doubt: _Doubt, turn: int = -1, place: int = -1, tool: str = ""
) -> Finding:
    item = record.item or record.where
    key = content_key([item, doubt.sort, turn, place, doubt.argument, doubt.gold])[:16]
    return Finding(
        key,
        item,
        record.where,
        record.line,
        doubt.severity,
        doubt.sort,
        doubt.reason,
        turn,
        place,
        tool,
        doubt.argument,
        doubt.words,
        doubt.document,
        doubt.gold,
        doubt.expected,
    )


# --- what other records contradict


class SeenGolds:
    """The golds of the records read so far, to find the same words with another gold.

    A record has 16 bytes, hashes of its words with its tools and of its gold, in a table with open
    addressing that is at most half full.
    """

    def __init__(self) -> None:
        """Start with a table for some hundred records."""
        self._table = array("Q", bytes(16 * 1024))
        self._count = 0

    def find_other_gold(self, record: ImportedRecord) -> Finding | None:
        """Keep a record's gold; return a finding if the same words had another gold before.

        Where it is not told what calls return, the same words may well need other calls.
        """
        if record.sample is None or record.lacks_results:
            return None
        user_turns = [one for one in record.sample.turns if isinstance(one, UserTurn)]
        said = [
            fold(f"{one.text}\n{one.external.text}" if one.external else one.text)
            for one in user_turns
        ]
        calls = [*_calls_with_accepted(record, record.sample)]
        tools = sorted(one.key for one in record.tools)
        words = _hash([said, record.sample.system_message, tools])
        gold = _hash(calls)
        known = self._known(words, gold)
        if known == gold:
            return None
        doubt = _Doubt(
            "duplicate",
            "An earlier record has the same words and tools, and another gold.",
            "warning",
            gold=[[one.tool, dict(one.arguments)] for one in record.sample.all_calls],
            words=next((one.text for one in user_turns), ""),
        )
        return _finding(record, doubt)

    def _known(self, words: int, gold: int) -> int:
        """Return the first gold of these words; `gold` if they are new."""
        if 4 * (self._count + 1) > len(self._table):
            self._grow()
        at = self._place(words)
        if not self._table[at]:
            self._table[at], self._table[at + 1] = words, gold
            self._count += 1
        return self._table[at + 1]

    def _place(self, words: int) -> int:
        at = 2 * words % len(self._table)
        while self._table[at] not in (0, words):
            at = (at + 2) % len(self._table)
        return at

    def _grow(self) -> None:
        before = self._table
        self._table = array("Q", bytes(16 * len(before)))
        for index in range(0, len(before), 2):
            if before[index]:
                at = self._place(before[index])
                self._table[at : at + 2] = before[index : index + 2]


def _calls_with_accepted(record: ImportedRecord, sample: Sample) -> Iterator[JsonValue]:
    """Yield each gold call with all values that are accepted, without what may be left out."""
    for snapshot in sample.snapshots():
        for place, call in enumerate(snapshot.calls):
            accepted = {
                one.argument: one
                for one in record.accepted
                if (one.turn, one.call) == (snapshot.turn, place)
            }
            values: dict[str, JsonValue] = {
                name: repr(
                    sorted(
                        map(repr, (accepted[name].values if name in accepted else ()) or (value,))
                    )
                )
                for name, value in call.arguments.items()
                if name not in accepted or not accepted[name].may_lack
            }
            yield [call.tool, values]


def _hash(value: object) -> int:
    """Return a hash of 8 bytes, never 0."""
    whole = blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=8).digest()
    return int.from_bytes(whole) or 1
