"""Conversations, calls and tools as annotators see them; each screen supplies its style."""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, assert_never

from pydantic import JsonValue

from callwright.annotation.calls import (
    render_snapshot,
    shift_turn,
    shortened,
    write_name,
    write_value,
)
from callwright.annotation.edits import is_part_of
from callwright.annotation.picks import (
    Contest,
    contests_of,
    render_result,
    render_source,
    step_turns,
    without_long_words,
)
from callwright.annotation.screens import SampleScreenWords
from callwright.generators.shifts.turns import is_path
from callwright.warehouse.records import (
    CallTurn,
    DialogueAct,
    Evidence,
    JsonSchema,
    Message,
    Record,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
    Verdict,
)

# the authors of what is due and of a message; the style of the screen knows them
SNAPSHOT, MESSAGE = ("→", "✉")
_VALUE, _LONG_VALUE = 80, 300
_PARTS = 12
_LINES = 40  # of calls that are seen at once
_RESULT_LINE = 100
_INNERMOST = re.compile(r"[{\[]\n[^{}\[\]]*[}\]]")


class Line(Record):
    """One line of the dialogue shown: who says what."""

    author: str
    text: str


class TurnPlace(NamedTuple):
    """The position of a turn: `at` among all, `number` among its kind, and the call turn before."""

    at: int
    number: int
    before: CallTurn | None


def _bracketed(message: Message) -> str:
    return f"[{message.app}] {message.text}" if message.app else message.text


class ConversationStyle(NamedTuple):
    """How a screen renders calls, results and replies; None leaves one out.

    Texts are cut after `most` characters. `is_numbered` numbers the user turns. `result_author`
    is who the screen names as the source of a result.
    """

    calls: Callable[[TurnPlace, CallTurn], str | None]
    results: Callable[[TurnPlace, ResultTurn], str | None]
    reply: Callable[[TurnPlace, ReplyTurn], str | None]
    result_author: str = ""
    message: Callable[[Message], str] = _bracketed
    is_numbered: bool = False
    most: int = sys.maxsize


def render_conversation(
    sample: Sample, words: SampleScreenWords, style: ConversationStyle
) -> Iterator[Line]:
    """Yield the lines of a conversation; every text of its turns for people is made here."""
    numbers: Counter[str] = Counter()
    before: CallTurn | None = None
    for index, turn in enumerate(sample.turns):
        numbers[turn.kind] += 1
        place = TurnPlace(index, numbers[turn.kind], before)
        lines: list[tuple[str, str | None]] = []
        match turn:
            case UserTurn(text=text, external=external):
                entry = (user_name(place.number, words) if style.is_numbered else words.user, text)
                lines.append(entry)
                lines += [(MESSAGE, style.message(external))] if external is not None else []
            case CallTurn():
                lines.append((SNAPSHOT, style.calls(place, turn)))
                before = turn
            case ResultTurn():
                lines.append((style.result_author, style.results(place, turn)))
            case ReplyTurn():
                lines.append((words.assistant, style.reply(place, turn)))
            case _:
                assert_never(turn)
        for author, told in lines:
            if told is not None:
                yield Line(author=author, text=shortened(told, style.most))


def render_turns(sample: Sample, words: SampleScreenWords) -> Iterator[Line]:
    """Yield the conversation with what each snapshot adds or changes.

    The calls after a single request are rendered elsewhere.
    """
    alone = not is_dialogue(sample)
    shift = shift_turn(sample)

    def calls(place: TurnPlace, turn: CallTurn) -> str | None:
        mark = f"⚑ {words.shift}:   " if place.at == shift else ""
        return None if alone else mark + render_snapshot(place.before, turn, words)

    style = ConversationStyle(
        calls=calls,
        results=lambda _, turn: "\n".join(map(_indented, turn.results)),
        reply=lambda _, turn: render_reply(turn, words),
        result_author=words.result,
        is_numbered=not alone,
    )
    return render_conversation(sample, words, style)


def render_reply(turn: ReplyTurn, words: SampleScreenWords) -> str:
    """Return the assistant's reply, after its dialogue acts if they are known.

    The author stays the same because the screen's style recognizes the assistant by name.
    """
    return f"{write_acts(turn.acts, words)}{turn.text}" if turn.acts else turn.text


def write_acts(acts: Sequence[DialogueAct], words: SampleScreenWords) -> str:
    """Return the acts as they appear before the text of a reply."""
    return f"[{', '.join(words.act[act] for act in acts)}] "


def user_name(number: int, words: SampleScreenWords) -> str:
    """Return the name of the n-th user turn of a conversation."""
    return f"{words.user} {number}"


def _indented(value: JsonValue) -> str:
    """Return a result as JSON, each innermost object on one line; a short result is one line."""
    whole = json.dumps(value, ensure_ascii=False)
    if len(whole) <= _RESULT_LINE:
        return whole
    indented = json.dumps(value, ensure_ascii=False, indent=2)
    return _INNERMOST.sub(lambda found: re.sub(r"\s*\n\s*", " ", found[0]), indented)


def render_steps(sample: Sample, words: SampleScreenWords) -> Iterator[Line]:
    """Yield the request, a line for each step's calls and one for their results, and the answer."""
    contests = contests_of(sample)
    style = ConversationStyle(
        calls=lambda place, turn: render_step(place.number, turn, words),
        results=lambda place, turn: _render_results(place.at, turn, contests, words),
        reply=lambda _, turn: render_reply(turn, words),
        result_author=words.result,
    )
    return render_conversation(sample, words, style)


def _brief(value: JsonValue) -> str:
    return shortened(without_long_words(write_value(value)), _VALUE)


def render_step(number: int, turn: CallTurn, words: SampleScreenWords) -> str:
    """Return the calls of one step; several have one line each."""
    step = f"{words.step.format(number=number)}:"
    calls: list[str] = []
    for call in turn.calls:
        given = (f"{write_name(name)} = {_brief(one)}" for name, one in call.arguments.items())
        calls.append(f"{write_name(call.tool)}({', '.join(given)})")
    return f"{step} {calls[0]}" if len(calls) == 1 else "\n".join([step, *calls])


def _render_results(
    index: int, turn: ResultTurn, contests: Sequence[Contest], words: SampleScreenWords
) -> str:
    """Return the responses of one step in short, numbered if there are several."""
    rendered = []
    for number, response in enumerate(turn.results):
        own = [one for one in contests if (one.turn, one.result) == (index, number)]
        rendered.append(render_result(response, own, words))
    numbered = (f"({number}) {text}" for number, text in enumerate(rendered, 1))
    return rendered[0] if len(rendered) == 1 else "\n".join(numbered)


class RenderedCalls(NamedTuple):
    """The calls that a reviewer sees at once, and those folded: of earlier turns, or too many."""

    shown: str
    folded: str


def render_calls(
    sample: Sample, verdicts: Sequence[Verdict], words: SampleScreenWords
) -> RenderedCalls:
    """Return the final calls: each tool's name, then a line per argument with its source.

    For a multi-step sample these are the calls of every step. Calls of earlier turns are folded,
    each with what is new in it.
    """
    if is_path(sample):
        lines, earlier = list(_step_lines(sample, words)), []
    else:
        none_due = words.no_call_after_shift if shift_turn(sample) is not None else words.no_calls
        lines = list(_call_lines(sample, verdicts, words)) or [none_due]
        earlier = list(_earlier_lines(sample, verdicts, words))
    if len(lines) > _LINES:
        more = words.more_entries.format(count=len(lines) - _LINES)
        return RenderedCalls("\n".join([*lines[:_LINES], more]), "\n".join([*earlier, *lines]))
    return RenderedCalls("\n".join(lines), "\n".join(earlier) or words.none)


def _step_lines(sample: Sample, words: SampleScreenWords) -> Iterator[str]:
    turns = step_turns(sample)

    def source(evidence: Evidence | None) -> str:
        """Return where a value comes from; for a value from a response, its step and rule."""
        if evidence is None or evidence.kind != "response" or (evidence.turn or 0) - 1 not in turns:
            return _source(evidence, {}, words)
        step = words.step.format(number=turns.index((evidence.turn or 0) - 1) + 1)
        return f"{step} · {render_source(evidence, words)}"

    for number, snapshot in enumerate(sample.snapshots(), 1):
        yield words.step.format(number=number)
        for call in snapshot.calls:
            yield f"  {write_name(call.tool)}"
            for name, value in call.arguments.items():
                shown = _brief(value)
                parts = [one for one in call.evidence if is_part_of(one.argument, name)]
                if [one.argument for one in parts] in ([], [name]):
                    yield f"    {write_name(name)} = {shown}   ← {source(next(iter(parts), None))}"
                    continue
                yield f"    {write_name(name)} = {shown}"
                yield from (f"      {part.argument}   ← {source(part)}" for part in parts[:_PARTS])
                if len(parts) > _PARTS:
                    yield f"      {words.more_entries.format(count=len(parts) - _PARTS)}"
            if not call.arguments:
                yield f"    {words.no_arguments}"


def _call_lines(
    sample: Sample, verdicts: Sequence[Verdict], words: SampleScreenWords
) -> Iterator[str]:
    proved = {item.argument: item for verdict in verdicts for item in verdict.evidence}
    uses = Counter(name for call in sample.gold for name in call.arguments)
    places = _places(sample, words)
    for call in sample.gold:
        own = {item.argument: item for item in call.evidence}
        yield write_name(call.tool)
        for name, value in call.arguments.items():
            # a check does not say which of two calls it means
            checked = proved.get(name) if uses[name] == 1 else None
            source = _source(_later(checked, own.get(name)) or proved.get(name), places, words)
            yield (
                f"  {write_name(name)} = {shortened(write_value(value), _LONG_VALUE)}   ← {source}"
            )
        if not call.arguments:
            yield f"  {words.no_arguments}"


def _later(checked: Evidence | None, own: Evidence | None) -> Evidence | None:
    """Return the check's evidence, or the call's own if that was said in a later turn.

    An older find of the check is about a value that has since been corrected.
    """
    is_older = checked and own and (own.turn or 0) > (checked.turn or 0)
    return own if is_older else checked or own


def _earlier_lines(
    sample: Sample, verdicts: Sequence[Verdict], words: SampleScreenWords
) -> Iterator[str]:
    """Yield the calls of all turns but the last, by user turn; only new or changed arguments.

    The calls of an executed turn are shown in full.
    """
    places, before = _places(sample, words), CallTurn(calls=())
    proofs = [item for verdict in verdicts for item in verdict.evidence]
    for at, turn in sample.call_turns[:-1]:
        former_arguments = (
            {} if turn.executed else {call.tool: call.arguments for call in before.calls}
        )
        lines: list[str] = []
        for call in turn.calls:
            old = former_arguments.get(call.tool, {})
            given = call.arguments.items()
            fresh = {name: one for name, one in given if name not in old or old[name] != one}
            evidence_by_name = {
                one.argument: one for one in proofs if one.turn is None or one.turn < at
            }
            evidence_by_name |= {one.argument: one for one in call.evidence}
            if fresh or call.tool not in former_arguments:
                lines.append(f"  {write_name(call.tool)}")
            for name, value in fresh.items():
                source, shown = (
                    _source(evidence_by_name.get(name), places, words),
                    write_value(value),
                )
                shown = shortened(shown, _LONG_VALUE)
                lines.append(f"    {write_name(name)} = {shown}   ← {source}")
        if lines:
            told = (name for place, name in reversed([*places.items()]) if place < at)
            yield next(told, words.user)
            yield from lines
        before = turn


def _places(sample: Sample, words: SampleScreenWords) -> Mapping[int, str]:
    """Return the name of each user turn by its index, if there is more than one to choose from."""
    users = [index for index, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]
    numbered = enumerate(users if is_dialogue(sample) else (), 1)
    return {index: user_name(number, words) for number, index in numbered}


def _source(evidence: Evidence | None, places: Mapping[int, str], words: SampleScreenWords) -> str:
    if evidence is None:
        return words.no_evidence
    # the names of normalisations are English
    is_named = evidence.kind not in ("normalised", "context") and evidence.rule
    how = render_source(evidence, words) if is_named else words.evidence_kind[evidence.kind]
    if not evidence.quote:
        return f"{evidence.path} ({how})" if evidence.path else how
    place = places.get(-1 if evidence.turn is None else evidence.turn, "")
    message = words.message if evidence.in_message else ""
    where = " · ".join(filter(None, [place, message, how]))
    return f"“{evidence.quote}” ({where})"


def describe_tool(tool: Tool, words: SampleScreenWords) -> str:
    """Return the tool in plain text."""
    parameters = (f"  • {name} {facts}" for name, facts in parameter_facts(tool, words))
    return "\n".join([f"{tool.name}: {tool.description}", *parameters])


def name_tool(tool: Tool) -> str:
    """Return the tool on one line: what it does, and the names of its parameters."""
    return f"{tool.name} ({', '.join(tool.properties)}): {tool.description}"


def parameter_facts(tool: Tool, words: SampleScreenWords) -> Iterator[tuple[str, str]]:
    """Yield each parameter's name, with its type, need, limits and description."""
    for name, schema in tool.properties.items():
        need = words.required if name in tool.required else words.optional
        about = str(schema.get("description", ""))
        facts = ", ".join(filter(None, [type_name(schema), need, *_limits(schema, words)]))
        yield name, f"({facts}) {about}".rstrip()


def type_name(schema: JsonSchema) -> str:
    """Return the type of a schema's values as screens name it, "" where it has choices alone."""
    if "enum" in schema and "type" not in schema:
        return ""
    kind = schema.get("type", "any")
    name = " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    items = schema.get("items")
    if isinstance(items, dict):
        return f"{name} of {type_name(items)}"
    return str(schema.get("format", name))


def _limits(schema: JsonSchema, words: SampleScreenWords) -> Iterator[str]:
    if "enum" in schema:
        yield f"{words.one_of} {' / '.join(_plain(value) for value in schema['enum'])}"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        yield f"{'' if low is None else low}…{'' if high is None else high}"
    if "default" in schema:
        yield f"= {_plain(schema['default'])}"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def is_dialogue(sample: Sample) -> bool:
    """Whether a sample is more than one request and the calls due after it."""
    return [turn.kind for turn in sample.turns] != ["user", "calls"]
