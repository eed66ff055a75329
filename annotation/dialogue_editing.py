"""A conversation as editable lines: who says what, and what each snapshot adds or changes.

    User 1: A table in Rome, please.
    -> book_table
    + city = Rome
    Assistant: For when?
    User 2: For the day that Ann names.
    [Mail] Let us meet on the 3rd of May.
    + date = 2026-05-03

If the sample has dialogue acts, each assistant line begins with them: `Assistant: [seek] For
when?`. A text continues on lines that begin with two spaces. Typed text is split into turns and
read strictly against the sample; an error gives the number of the wrong line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.annotation.calls import (
    changes,
    check_arguments,
    check_storable,
    goes_on,
    leaves_out,
    plain_lines,
    read_name,
    read_value,
    same_calls,
    tool_named,
    write_name,
    write_result,
    write_value,
)
from callwright.annotation.dialogue_acts import read_acts
from callwright.annotation.rendering import (
    MESSAGE,
    SNAPSHOT,
    ConversationStyle,
    TurnPlace,
    render_conversation,
    write_acts,
)
from callwright.annotation.screens import SampleScreenWords, interface_languages, words_in
from callwright.language.packs import plain_signs, signs
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    GoldCall,
    JsonSchema,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

CALL, NOTE, RESULT, GOES_ON = "->", "--", "<-", "  "
BlockKind = Literal["user", "reply", "calls", "result"]
Mark = Literal["->", "--", "+", "~", "-"]
_MARKS: tuple[Mark, ...] = ("->", "--", "+", "~", "-")  # the longer ones first
_LONGEST_MARK = 2
_KNOWN = "User:, Assistant:, [app], ->, +, ~, - or --"
_SHOWN = 60
_MOST_LINES = 3000
_NAMES = {
    "user": "what the user says",
    "reply": "what the assistant says",
    "calls": "the calls due",
    "result": "a result",
}
_FIXED = (
    "Turns can be reworded, but not added, removed or moved. If that is needed, reject the sample."
)


def write_dialogue(
    sample: Sample,
    words: SampleScreenWords,
    changed: Mapping[int, Sequence[GoldCall]] = MappingProxyType({}),
) -> str:
    """Return the conversation of `sample` as lines that people read and edit.

    `changed` maps the index of a turn to the calls that a person put in its place; the turns
    after it stay as they were written.
    """
    labelled = _has_acts(sample)

    def calls(place: TurnPlace, turn: CallTurn) -> str:
        follows_calls = place.at and sample.turns[place.at - 1].kind == "calls"
        stated = _snapshot(place.before, turn, words)
        if place.at in changed:
            stated = _snapshot(None, turn.with_changes(calls=tuple(changed[place.at])), words)
        return "\n".join([*([NOTE] if follows_calls else []), *stated])

    def message(told: Message) -> str:
        return _text(f"[{write_name(told.app) if told.app else ''}] ", told.text)

    style = ConversationStyle(
        calls=calls,
        results=lambda _, turn: f"{RESULT} {write_result(turn)}",
        reply=lambda _, turn: f"{write_acts(turn.acts, words) if labelled else ''}{turn.text}",
        message=message,
        is_numbered=True,
    )
    lines = render_conversation(sample, words, style)
    bare = (SNAPSHOT, MESSAGE, "")
    return "\n".join(
        one.text if one.author in bare else _text(f"{one.author}: ", one.text) for one in lines
    )


def _has_acts(sample: Sample) -> bool:
    return any(isinstance(turn, ReplyTurn) and turn.acts for turn in sample.turns)


def _text(start: str, text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return start + f"\n{GOES_ON}".join(lines)


def _snapshot(before: CallTurn | None, turn: CallTurn, words: SampleScreenWords) -> Iterator[str]:
    if not turn.calls:
        yield f"{NOTE} {words.no_call}"
    elif before is not None and goes_on(before, turn) and same_calls(before.calls, turn.calls):
        yield f"{NOTE} {words.no_change}"
    elif before is not None and goes_on(before, turn) and len(turn.calls) == 1:
        for change in changes(before.calls[0], turn.calls[0]):
            value = "" if change.sign == "-" else f" = {write_value(change.new)}"
            yield f"{change.sign} {write_name(change.name)}{value}"
    else:
        for call in turn.calls:
            yield f"{CALL} {write_name(call.tool)}"
            for name, given in call.arguments.items():
                yield f"+ {write_name(name)} = {write_value(given)}"


class CallLine(NamedTuple):
    """A line about the calls due: its number, its mark and the text after it."""

    line: int
    mark: Mark
    rest: str


class TypedMessage(NamedTuple):
    """A message outside the conversation, with the app that it appears in."""

    app: str
    text: str


class Block(NamedTuple):
    """The lines of one turn: what the user says, an external message, or the entries of calls."""

    kind: BlockKind
    line: int
    text: str = ""
    message: TypedMessage | None = None
    entries: tuple[CallLine, ...] = ()


def read_blocks(typed: str) -> list[Block]:
    """Return the turns in the lines. Raises RecordError naming the first line that doesn't fit."""
    check_storable(typed, "The conversation")
    lines = plain_lines(typed).split("\n")
    if len(lines) > _MOST_LINES:
        raise RecordError(
            f"The conversation has {len(lines)} lines; at most {_MOST_LINES} are allowed."
        )
    blocks: list[Block] = []
    for number, line in enumerate(lines, 1):
        open_text = bool(blocks) and blocks[-1].kind in ("user", "reply")
        if line.startswith(GOES_ON) and open_text:
            blocks[-1] = _longer(blocks[-1], line.removeprefix(GOES_ON))
        elif line.strip():
            _read_line(number, line, blocks)
    return blocks


def _longer(block: Block, text: str) -> Block:
    if block.message is None:
        return block._replace(text=f"{block.text}\n{text}")
    return block._replace(message=block.message._replace(text=f"{block.message.text}\n{text}"))


def _read_line(number: int, line: str, blocks: list[Block]) -> None:
    text = _text_block(number, line)
    start = line[:_LONGEST_MARK].translate(plain_signs())
    mark = next((mark for mark in _MARKS if start.startswith(mark)), None)
    if text is not None:
        blocks.append(text)
    elif start.startswith("["):
        _add_message(number, line, blocks)
    elif start == RESULT:
        blocks.append(Block("result", number, line[len(RESULT) :].strip()))
    elif mark is not None:
        _add_entry(CallLine(number, mark, line[len(mark) :].strip()), blocks)
    else:
        raise RecordError(
            f"Line {number} is not understood: {line[:_SHOWN]!r}. A line begins with {_KNOWN};"
            " indent the next line of a longer text by two spaces."
        )


def _text_block(number: int, line: str) -> Block | None:
    for language in interface_languages():
        words = words_in(language)
        for kind, author in (("user", words.user), ("reply", words.assistant)):
            found = re.match(rf"{re.escape(author)} ?\d*[{signs(':')}] ?", line, re.IGNORECASE)
            if found:
                return Block("user" if kind == "user" else "reply", number, line[found.end() :])
    return None


def _add_message(number: int, line: str, blocks: list[Block]) -> None:
    with _at_line(number):
        app, rest = read_name(line[1:])
    if not blocks or blocks[-1].kind != "user" or blocks[-1].message is not None:
        problem = f"Line {number}: a message in [{app}] must come right after the user's words."
        raise RecordError(problem)
    if not rest.startswith(tuple(signs("]"))):
        raise RecordError(f"Line {number}: the name of the app has no closing ].")
    text = rest[1:].removeprefix(" ")
    blocks[-1] = blocks[-1]._replace(message=TypedMessage(app, text))


def _add_entry(entry: CallLine, blocks: list[Block]) -> None:
    if entry.mark == NOTE and not entry.rest:  # a separator
        blocks.append(Block("calls", entry.line))
    elif blocks and blocks[-1].kind == "calls":
        blocks[-1] = blocks[-1]._replace(entries=(*blocks[-1].entries, entry))
    else:
        blocks.append(Block("calls", entry.line, entries=(entry,)))


def read_dialogue(typed: str, sample: Sample, tools: Sequence[Tool]) -> tuple[Turn, ...]:
    """Return the turns of `sample` as they were typed. Raises RecordError if any can't be used.

    `tools` are its candidates. Snapshots build on one another: a change in one carries over to
    the later ones. A changed call keeps no evidence; an unchanged turn is the same object as in
    `sample`.
    """
    return tuple(_DialogueEdit(sample, tools, read_blocks(typed)).turns())


class _DialogueEdit:
    """Matches the turns of a sample with the blocks that were typed for them."""

    def __init__(self, sample: Sample, tools: Sequence[Tool], blocks: Sequence[Block]) -> None:
        self._sample = sample
        self._labelled = _has_acts(sample)
        self._tools = tools
        self._left = list(reversed(blocks))
        self._before: CallTurn | None = None
        found = (i for i, turn in enumerate(sample.turns) if turn.kind == "calls")
        self._last_calls = max(found, default=-1)

    def turns(self) -> Iterator[Turn]:
        for index, turn in enumerate(self._sample.turns):
            yield self._turn(index, turn)
        if self._left:
            raise _moved(self._left[-1], "the end of the conversation")

    def _turn(self, index: int, turn: Turn) -> Turn:
        if isinstance(turn, CallTurn):
            self._before = self._calls(index, turn)
            return self._before
        block = self._next(turn)
        if isinstance(turn, ResultTurn):
            if block.text != write_result(turn):
                raise RecordError(
                    f"Line {block.line}: results can't be changed here; reject the sample instead."
                )
            return turn
        if isinstance(turn, ReplyTurn):
            return self._reply(turn, block)
        text = _reworded(turn.text, block.text, block)
        message = _read_message(turn, block)
        same = text == turn.text and message == turn.external
        return turn if same else turn.with_changes(text=text, external=message)

    def _reply(self, turn: ReplyTurn, block: Block) -> ReplyTurn:
        """Return the assistant's reply, with its dialogue acts if the sample has any."""
        if not self._labelled:
            text, acts = _reworded(turn.text, block.text, block), turn.acts
        else:
            with _at_line(block.line):
                acts, typed = read_acts(block.text, turn)
            text = _reworded(turn.text, typed, block)
        if (text, acts) == (turn.text, turn.acts):
            return turn
        return turn.with_changes(text=text, acts=acts)

    def _next(self, turn: Turn) -> Block:
        if not self._left:
            problem = f"The conversation ends, but {_NAMES[turn.kind]} must come next. {_FIXED}"
            raise RecordError(problem)
        block = self._left.pop()
        if block.kind != turn.kind:
            raise _moved(block, _NAMES[turn.kind])
        return block

    def _calls(self, index: int, turn: CallTurn) -> CallTurn:
        before = self._before
        if self._left and self._left[-1].kind == "calls":
            block = self._left.pop()
            calls = _Snapshot(turn, before, self._tools).read(block)
            line = block.line
        elif before is not None:
            calls, line = list(before.calls), 0
        else:
            raise RecordError(
                "The first user turn must say which call is due: `-> tool`, or `-- no call is due`."
            )
        if same_calls(calls, turn.calls):
            return turn
        # Required arguments may be missing on the way, at the end only where they were missing
        # before.
        was_full = bool(turn.calls) and not leaves_out(turn.calls, self._tools)
        may_leave_out = not (was_full and (turn.executed or index == self._last_calls))
        for call in calls:
            with _at_line(line):
                tool = tool_named(call.tool, self._tools)
                check_arguments(tool, call.arguments, may_leave_out=may_leave_out)
        return turn.with_changes(calls=tuple(calls))


class _Snapshot(NamedTuple):
    """The entries of one call turn, read against the original turn and the call turn before it."""

    was: CallTurn
    before: CallTurn | None
    tools: Sequence[Tool]

    def read(self, block: Block) -> list[GoldCall]:
        """Return the calls that are due after these entries."""
        entries = block.entries
        if not entries:
            return self._unchanged(block.line)
        if any(entry.mark == "--" for entry in entries):
            return self._noted(entries)
        if entries[0].mark == "->":
            return list(self._whole(entries))
        calls = [] if self.before is None else self.before.calls
        if len(calls) != 1:
            raise RecordError(f"Line {entries[0].line}: name the tool first, in a line `-> tool`.")
        return [self._changed(calls[0], entries)]

    def _unchanged(self, line: int) -> list[GoldCall]:
        if self.before is None:
            raise RecordError(
                f"Line {line}: no call comes before this one, so name the tool: `-> tool`,"
                " then its arguments."
            )
        return list(self.before.calls)

    def _noted(self, entries: Sequence[CallLine]) -> list[GoldCall]:
        note = next(entry for entry in entries if entry.mark == "--")
        if len(entries) > 1:
            raise RecordError(
                f"Line {note.line}: `-- {note.rest}` can't be combined with calls or arguments."
            )
        language_words = [words_in(language) for language in interface_languages()]
        if note.rest.casefold() in {words.no_call.casefold() for words in language_words}:
            return []
        if note.rest.casefold() in {words.no_change.casefold() for words in language_words}:
            return self._unchanged(note.line)
        notes = " or ".join(
            f"`-- {text}`" for text in (language_words[0].no_call, language_words[0].no_change)
        )
        raise RecordError(f"Line {note.line}: `-- {note.rest}` is not understood; write {notes}.")

    def _whole(self, entries: Sequence[CallLine]) -> Iterator[GoldCall]:
        starts = [index for index, entry in enumerate(entries) if entry.mark == "->"]
        ends = [*starts[1:], len(entries)]
        for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
            tool, rest = _named(entries[start])
            if rest or not tool:
                problem = f"Line {entries[start].line}: write the name of one tool after `->`."
                raise RecordError(problem)
            same = (one for one in self.was.calls[number : number + 1] if one.tool == tool)
            yield self._changed(GoldCall(tool=tool), entries[start + 1 : end], next(same, None))

    def _changed(
        self, call: GoldCall, entries: Sequence[CallLine], was: GoldCall | None = None
    ) -> GoldCall:
        former_call = was or next((one for one in self.was.calls if one.tool == call.tool), None)
        schemas = next((tool.properties for tool in self.tools if tool.name == call.tool), {})
        arguments: Arguments = dict(call.arguments)
        named: set[str] = set()
        for entry in entries:
            name, rest = _named(entry)
            if name in named:
                raise RecordError(f"Line {entry.line}: {name!r} occurs twice.")
            named.add(name)
            if entry.mark == "-":
                if rest:
                    raise RecordError(
                        f"Line {entry.line}: remove an argument with `- name`, without a value."
                    )
                if name not in arguments:
                    raise RecordError(
                        f"Line {entry.line}: the call has no argument {name!r} to remove."
                    )
                del arguments[name]
            else:
                arguments[name] = _value(name, rest, entry, former_call, schemas)
        return GoldCall(tool=call.tool, arguments=arguments)


def _value(
    name: str, rest: str, entry: CallLine, known: GoldCall | None, schemas: dict[str, JsonSchema]
) -> JsonValue:
    if not rest.startswith(tuple(signs("="))):
        raise RecordError(f"Line {entry.line}: write an argument as `{entry.mark} name = value`.")
    typed = rest[1:].strip()
    if not typed:
        raise RecordError(f'Line {entry.line}: {name!r} has no value; write an empty text as "".')
    before = known.arguments if known else {}
    if name in before and write_value(before[name]) == typed:
        return before[name]  # what nobody retyped keeps its type, whatever the schema says
    with _at_line(entry.line):
        return read_value(typed, schemas.get(name, {}))


def _read_message(turn: UserTurn, block: Block) -> Message | None:
    if (turn.external is None) != (block.message is None):
        what = "has no message" if turn.external is None else "has lost its message"
        raise RecordError(f"Line {block.line}: this turn {what}. {_FIXED}")
    if turn.external is None or block.message is None:
        return None
    text = _reworded(turn.external.text, block.message.text, block)
    return turn.external.with_changes(app=block.message.app, text=text)


def _reworded(before: str, typed: str, block: Block) -> str:
    """Return the typed text, or the original if they only differ in outer spaces and line ends.

    Raises RecordError for an empty text.
    """
    text = plain_lines(typed)
    if text == plain_lines(before):
        return before
    if not text:
        raise RecordError(f"Line {block.line}: this turn has no text.")
    return text


def _moved(block: Block, expected: str) -> RecordError:
    problem = f"Line {block.line}: {expected} was expected, not {_NAMES[block.kind]}. {_FIXED}"
    return RecordError(problem)


def _named(entry: CallLine) -> tuple[str, str]:
    with _at_line(entry.line):
        return read_name(entry.rest)


@contextmanager
def _at_line(number: int) -> Iterator[None]:
    """Add the number of the line to each RecordError, if there is one."""
    try:
        yield
    except RecordError as error:
        raise RecordError(f"Line {number}: {error}" if number else str(error)) from error
