"""What a multi-step sample picks from long responses: the entry, its rivals, and lines to show."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.annotation.calls import shortened, write_name, write_value
from callwright.annotation.screens import SampleScreenWords
from callwright.generators.environments.picking import Entry, entries_of, has, rivals, value_at
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import EntryRule, Evidence, FeedRule, Picked, ResultTurn, Sample

_RESULT = re.compile(r"turns\[(\d+)\]\.results\[(\d+)\]\.?(.*)", re.DOTALL)
_INDEX = re.compile(r"\[(\d+)\]")
PICKED, RIVAL = "▶", "≈"
MOST_RESULT = 1_200  # characters of one response, whatever it holds
_WHOLE = 400  # characters up to which a response is shown as it is
_ENTRY = 100
_VALUE = 60
_PROSE = 40
_NAMES = frozenset({"name", "title", "label"})
_RIVALS = 4
_OTHERS = 2
_DEPTH = 3
_HEAD, _TAIL = 14, 10
_LONG_WORD = re.compile(r"[^\s\"',()]{41,}")


class Pick(NamedTuple):
    """An argument that is picked from a response: by which rule, and which entry."""

    tool: str
    argument: str
    rule: EntryRule
    entry: int


class Contest(NamedTuple):
    """A list in a response from which something is picked; `rivals` are entries that fit too.

    `turn` and `result` are the position of the response in the sample.
    """

    turn: int
    result: int
    entries: str
    picks: tuple[Pick, ...]
    rivals: tuple[Entry, ...]

    @property
    def chosen(self) -> list[int]:
        """The picked entries, in the order of the list."""
        return sorted({pick.entry for pick in self.picks})


def step_turns(sample: Sample) -> list[int]:
    """Return the index of each call turn; its place in the list is the number of the step."""
    return [at for at, _ in sample.call_turns]


def contests_of(sample: Sample) -> list[Contest]:
    """Return the lists that the sample's arguments are picked from, in the order of its turns."""
    picks_by_list: dict[tuple[int, int, str], list[Pick]] = {}
    for call in sample.all_calls:
        for evidence in call.evidence:
            place = _place(sample, evidence)
            if place is not None:
                turn, result, rule, entry = place
                pick = Pick(call.tool, evidence.argument, rule, entry)
                picks_by_list.setdefault((turn, result, rule.entries), []).append(pick)
    return [
        Contest(*place, tuple(picks), tuple(find_rivals(_response(sample, *place[:2]), picks)))
        for place, picks in sorted(picks_by_list.items())
    ]


def response_of(sample: Sample, contest: Contest) -> JsonValue:
    """Return the response that a contest is about."""
    return _response(sample, contest.turn, contest.result)


def find_rivals(response: JsonValue, picks: Sequence[Pick]) -> list[Entry]:
    """Return the unpicked entries that meet a pick's conditions but give another value."""
    chosen = {pick.entry for pick in picks}
    rival_entries: dict[int, Entry] = {}
    for pick in picks:
        entries = entries_of(response, pick.rule.entries)
        value = value_at(entries[pick.entry].value, pick.rule.field)
        for entry in rivals(entries, pick.rule.where, pick.entry):
            if entry.index in chosen or not has(entry.value, pick.rule.field):
                continue
            if value_at(entry.value, pick.rule.field) != value:
                rival_entries[entry.index] = entry
    return [rival_entries[index] for index in sorted(rival_entries)]


def relevant_fields(picks: Iterable[Pick]) -> list[str]:
    """Return the fields of an entry that matter: those of conditions, then the picked ones."""
    rules = [pick.rule for pick in picks]
    asked = [condition.field for rule in rules for condition in rule.where if condition.field]
    return list(dict.fromkeys([*asked, *(rule.field for rule in rules if rule.field)]))


def _place(sample: Sample, evidence: Evidence) -> tuple[int, int, EntryRule, int] | None:
    """Return the turn, result, rule and entry of the evidence, or None if the entry is missing."""
    result_match, rule = _RESULT.fullmatch(evidence.path), evidence.rule
    if result_match is None or not isinstance(rule, EntryRule):
        return None
    turn, result = int(result_match[1]), int(result_match[2])
    try:
        entries = entries_of(_response(sample, turn, result), rule.entries)
        index = _INDEX.match(result_match[3].removeprefix(rule.entries))
        entry = int(index[1]) if index else 0
        value_at(entries[entry].value, rule.field)
    except (RecordError, IndexError):
        # evidence that leads nowhere is the checks' matter; there is nothing to show for it
        return None
    return turn, result, rule, entry


def _response(sample: Sample, turn: int, result: int) -> JsonValue:
    held = sample.turns[turn]
    if not isinstance(held, ResultTurn):
        raise RecordError(f"Turn {turn} of the sample {sample.key} has no results.")
    return held.results[result]


def render_result(
    response: JsonValue, contests: Sequence[Contest], words: SampleScreenWords
) -> str:
    """Return a response in short, beginning with the picked entries and their rivals."""
    if contests:
        parts = (line for contest in contests for line in _contest_lines(response, contest, words))
        rendered = "\n".join(parts)
    else:
        rendered = render_response(response)
    return shortened(rendered, MOST_RESULT)


def render_picks(response: JsonValue, picks: Sequence[Pick], words: SampleScreenWords) -> str:
    """Render picks that belong to no sample as `render_result` does; all must share one list."""
    contest = Contest(
        0, 0, picks[0].rule.entries, tuple(picks), tuple(find_rivals(response, picks))
    )
    return render_result(response, [contest], words)


def render_response(response: JsonValue) -> str:
    """Return a response without picks: whole if it is short, else its top-level facts."""
    if _is_short(response):
        return json.dumps(response, ensure_ascii=False)
    return _joined(_facts(response, "", 0), MOST_RESULT // 2)


def render_entry(entry: JsonValue, fields: Sequence[str], most: int = _ENTRY) -> str:
    """Return an entry on one line: the fields that matter first, then others as room allows."""
    first = [(field, value_at(entry, field)) for field in fields if has(entry, field)]
    known = {field for field, _ in first}
    rest = (fact for fact in _facts(entry, "", 0) if fact[0] not in known and not _is_prose(*fact))
    return _joined([*first, *rest], most)


def render_rule(rule: EntryRule | Picked, words: SampleScreenWords) -> str:
    """Return the rule of a pick in the words of the screen."""
    parts = [
        words.rule[one.test].format(
            field=write_name(one.field), value=json.dumps(one.value, ensure_ascii=False)
        )
        for one in rule.where
    ]
    if rule.later_by:
        parts.append(words.rule["later"].format(value=rule.later_by))
    field = write_name(rule.field) if rule.field else "."
    start = field
    if rule.entries:
        start = words.rule["of"].format(field=field, entries=write_name(rule.entries))
    if parts:
        return words.rule["where"].format(start=start, conditions=words.rule["and"].join(parts))
    return start


def render_source(evidence: Evidence, words: SampleScreenWords) -> str:
    """By what rule a value comes out of a response, or where it stands in it."""
    match evidence.rule:
        case EntryRule() as rule:
            return render_rule(rule, words)
        case FeedRule(call=call, field=field):
            return words.rule["feed"].format(field=write_name(field), number=call + 1)
        case name:
            return name or evidence.path


def without_long_words(text: str) -> str:
    """Return the text with the middle of each very long token left out."""
    return _LONG_WORD.sub(lambda found: f"{found[0][:_HEAD]}…{found[0][-_TAIL:]}", text)


def _contest_lines(
    response: JsonValue, contest: Contest, words: SampleScreenWords
) -> Iterator[str]:
    entries = entries_of(response, contest.entries)
    fields = relevant_fields(contest.picks)
    rivals = [entry.index for entry in contest.rivals]
    named = {*contest.chosen, *rivals}
    others = [entry for entry in entries if entry.index not in named][:_OTHERS]
    if not isinstance(value_at(response, contest.entries), list):
        yield f"{PICKED} {render_entry(entries[0].value, fields)}"
        return
    yield f"{contest.entries or '.'} ({words.entries.format(count=len(entries))})"
    for index in contest.chosen:
        yield f"{PICKED} {_numbered(entries[index], fields)}"
    for index in rivals[:_RIVALS]:
        yield f"{RIVAL} {_numbered(entries[index], fields)}"
    if len(rivals) > _RIVALS:
        yield f"{RIVAL} {words.more_rivals.format(count=len(rivals) - _RIVALS)}"
    for entry in others:
        yield f"   {_numbered(entry, fields)}"
    left = len(entries) - len(named) - len(others)
    if left:
        yield f"   {words.more_entries.format(count=left)}"


def _numbered(entry: Entry, fields: Sequence[str]) -> str:
    return f"[{entry.index}] {render_entry(entry.value, fields)}"


def _facts(value: JsonValue, path: str, depth: int) -> Iterator[tuple[str, JsonValue]]:
    """Yield the scalars in a value by dotted path, outer ones first; of a list the first entry.

    A list also yields its length.
    """
    if isinstance(value, dict):
        below = {f"{path}.{name}" if path else name: member for name, member in value.items()}
        inner = {name: one for name, one in below.items() if isinstance(one, dict | list)}
        yield from ((name, one) for name, one in below.items() if name not in inner)
        for name, member in inner.items() if depth < _DEPTH else ():
            yield from _facts(member, name, depth + 1)
    elif isinstance(value, list):
        yield f"{path}[]" if path else "[]", len(value)
        if value and depth < _DEPTH:
            yield from _facts(value[0], f"{path}[0]", depth + 1)
    else:
        yield path, value


def _is_prose(path: str, value: JsonValue) -> bool:
    """Whether a text is too long to tell entries apart; a name never is."""
    is_long = isinstance(value, str) and " " in value and len(value) > _PROSE
    return is_long and path.rsplit(".", 1)[-1].lower() not in _NAMES


def _joined(
    facts: Sequence[tuple[str, JsonValue]] | Iterator[tuple[str, JsonValue]], most: int
) -> str:
    rendered: list[str] = []
    length = 0
    for name, value in facts:
        shown = shortened(without_long_words(write_value(value)), _VALUE)
        rendered.append(f"{name}: {shown}" if name else shown)
        length += len(rendered[-1]) + 3
        if length > most:
            rendered.append("…")
            break
    return " · ".join(rendered)


def _is_short(response: JsonValue) -> bool:
    """Whether a response is short enough to show whole; doesn't serialize it to find out."""
    count = 0
    stack = [response]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(value.values())
            count += sum(map(len, value)) + 4 * len(value)
        elif isinstance(value, list):
            stack.extend(value)
            count += 2 * len(value)
        else:
            count += len(str(value)) + 2
        if count > _WHOLE:
            return False
    return True
