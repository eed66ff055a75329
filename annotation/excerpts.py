"""Long responses in a few lines: the entry that is picked, those that fit as well, and how many more there are."""

import json
import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from annotation.picks import Contest, Pick, find_rivals, told_fields
from annotation.typed_values import write_value
from annotation.words import Words
from generators.multi_step.picking import Entry, entries_of, has, value_at

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


def tell_result(response: JsonValue, contests: Sequence[Contest], words: Words) -> str:
    """A response in short; what is picked out of it, and what competes with that, stands first."""
    if contests:
        told = "\n".join(line for contest in contests for line in _contest_lines(response, contest, words))
    else:
        told = tell_whole(response)
    return told if len(told) <= MOST_RESULT else f"{told[:MOST_RESULT]}…"


def tell_picks(response: JsonValue, picks: Sequence[Pick], words: Words) -> str:
    """As `tell_result`, of picks that stand in no sample; each of them is of the same list."""
    contest = Contest(0, 0, picks[0].rule.entries, tuple(picks), tuple(find_rivals(response, picks)))
    return tell_result(response, [contest], words)


def tell_whole(response: JsonValue) -> str:
    """A response without a pick: as it is where it is short, else what stands at its top."""
    if _is_short(response):
        return json.dumps(response, ensure_ascii=False)
    return _joined(_facts(response, "", 0), MOST_RESULT // 2)


def tell_entry(entry: JsonValue, fields: Sequence[str], most: int = _ENTRY) -> str:
    """An entry on one line: the fields that matter first, then what else there is room for."""
    first = [(field, value_at(entry, field)) for field in fields if has(entry, field)]
    known = {field for field, _ in first}
    rest = (fact for fact in _facts(entry, "", 0) if fact[0] not in known and not _is_prose(*fact))
    return _joined([*first, *rest], most)


def without_long_words(text: str) -> str:
    """The text with the middle of each token that nobody reads left out."""
    return _LONG_WORD.sub(lambda found: f"{found[0][:_HEAD]}…{found[0][-_TAIL:]}", text)


def _contest_lines(response: JsonValue, contest: Contest, words: Words) -> Iterator[str]:
    entries = entries_of(response, contest.entries)
    fields = told_fields(contest.picks)
    rivals = [entry.index for entry in contest.rivals]
    named = {*contest.chosen, *rivals}
    others = [entry for entry in entries if entry.index not in named][:_OTHERS]
    if not isinstance(value_at(response, contest.entries), list):
        yield f"{PICKED} {tell_entry(entries[0].value, fields)}"
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
    return f"[{entry.index}] {tell_entry(entry.value, fields)}"


def _facts(value: JsonValue, path: str, depth: int) -> Iterator[tuple[str, JsonValue]]:
    """What is plain in a value, by its dotted path: the outer before the inner, of a list the first entry."""
    if isinstance(value, dict):
        inner = [(name, member) for name, member in value.items() if isinstance(member, dict | list)]
        for name, member in value.items():
            if not isinstance(member, dict | list):
                yield _below(path, name), member
        for name, member in inner:
            yield from _facts(member, _below(path, name), depth + 1) if depth < _DEPTH else ()
    elif isinstance(value, list):
        yield f"{path}[]" if path else "[]", len(value)
        if value and depth < _DEPTH:
            yield from _facts(value[0], f"{path}[0]", depth + 1)
    else:
        yield path, value


def _is_prose(path: str, value: JsonValue) -> bool:
    """Whether a text is too long to tell one entry from another; a name never is."""
    is_long = isinstance(value, str) and " " in value and len(value) > _PROSE
    return is_long and path.rsplit(".", 1)[-1].lower() not in _NAMES


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _joined(facts: Sequence[tuple[str, JsonValue]] | Iterator[tuple[str, JsonValue]], most: int) -> str:
    told: list[str] = []
    length = 0
    for name, value in facts:
        written = without_long_words(write_value(value))
        shown = written if len(written) <= _VALUE else f"{written[:_VALUE]}…"
        told.append(f"{name}: {shown}" if name else shown)
        length += len(told[-1]) + 3
        if length > most:
            told.append("…")
            break
    return " · ".join(told)


def _is_short(response: JsonValue) -> bool:
    """Whether a response is shown whole; a long one is not written out only to see that."""
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
