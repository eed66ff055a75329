"""What an assistant learns from samples: one example per action, which is the last message.

It asks while a required argument is missing, calls once all are known, answers after a result,
or says that no tool fits. The formats for training and for judging single steps are made of
these examples. Messages have the shape of the chat completions API.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple, assert_never

import orjson
from jsonschema import Draft202012Validator
from jsonschema.exceptions import UnknownType
from jsonschema.validators import extend
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable

from callwright.warehouse.answers import untold_fields
from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.writing import (
    UNKNOWN,
    Fields,
    LeftOutRow,
    ReleaseSplit,
    Row,
    Write,
    json_text,
    user_text,
    wire_document,
)
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    content_key,
)
from callwright.warehouse.releases import AssistantWords, ReleaseStream, SampleAnswers
from callwright.warehouse.wire_names import WireNames, wire_names
from callwright.warehouse.wire_schemas import wire_schema

Message = dict[str, Any]
MOST_TOOLS = 128  # what OpenAI's interface takes
NOT_ASKED = "a required argument is missing, and nobody asks for it"
NO_WORDS = "no tool fits, and we have no words to say so in this language"
NOT_KNOWN = "a value is known from the result of an earlier call only, which was not made"
NO_SUCH_TOOL = (
    "a call is due whose tool is no candidate, or with an argument that its tool does not declare"
)
NOT_MADE = "the conversation goes on as if a call had been made that was not"
BROKEN = (
    "the assistant's own mistake stands in the conversation, and this format teaches all that the"
    " assistant says"
)
ONCE = "an earlier row teaches the same, word for word"
NOT_TOLD = "the answer does not tell what was asked for"
TOGETHER = "calls are due together, and no results are known to write between them"
NOT_VALID = "a call is due that the schema of its tool refuses"
TAGGED = "a text holds a control token, which chat templates write around turns and calls"

_TAG = re.compile(
    rb"<[|\xef\xbd\x9c][^<>\s]{1,40}[|\x9c]>|</?(?:tool_call|tool_response|tools)>|</s>"
    rb"|<(?:start|end)_of_turn>|\[/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]"
)


# A pattern of somebody's may take for ever, so none is asked.
_Validator = extend(Draft202012Validator, {"pattern": lambda *_: iter(())})  # type: ignore[no-untyped-call]


class TrainingExample(NamedTuple):
    """What came before, what the assistant should do, and its tools under their names here.

    `names` are those on the wire; `tools_left_out` were too many for the reader. Where answers are
    exported, `given_by` says whose `last` is ("" for the gold), and `pass_rate` how many runs pass;
    `rejected` is a worse answer. A `last` that `is_wrong` is not to be learned.
    """

    sample: Sample
    turn: int
    before: tuple[Message, ...]
    last: Message
    tools: tuple[Fields, ...]
    names: WireNames
    tools_left_out: tuple[str, ...]
    given_by: str = ""
    pass_rate: float | None = None
    rejected: Message | None = None
    rejected_by: str = ""
    is_wrong: bool = False

    @property
    def messages(self) -> list[Message]:
        """The whole conversation, ending with what is taught."""
        return [*self.before, self.last]

    @property
    def origin(self) -> dict[str, Any]:
        """Where the example comes from."""
        sample = self.sample
        whose = {name: by for name in ("given_by", "rejected_by") if (by := getattr(self, name))}
        return {
            "key": sample.key,
            "turn": self.turn,
            "kind": sample.kind,
            "language": sample.language,
            "category": sample.category,
            "tools_left_out": list(self.tools_left_out),
            **whose,
        }


Answered = Callable[[TrainingExample, SampleAnswers], "Iterable[TrainingExample | LeftOutRow]"]
Teach = Callable[[Sample], "Iterator[TrainingExample | LeftOutRow]"]
OfRuns = Callable[[Sample, SampleAnswers, Teach], "Iterable[TrainingExample | LeftOutRow]"]


class ExampleFormat(NamedTuple):
    """How a format writes what samples teach, each thing once: a row an example, a file a part.

    `are_whole` leaves out the beginnings of longer examples of the same sample, for readers that
    teach a whole conversation at once. `has_origins` writes the origins to a separate file, for
    readers that take only their own fields. `is_templated` leaves out texts with the tokens that
    chat templates write themselves. `answered` makes rows from an example and its answers where
    answers are exported, `of_runs` rows from whole runs.
    """

    row_of: Callable[[TrainingExample], Row]
    most_tools: int | None = None
    are_whole: bool = False
    has_origins: bool = False
    is_templated: bool = False
    answered: Answered | None = None
    of_runs: OfRuns | None = None

    def begin(self, part: ReleaseSplit) -> Write:
        """Return the function that writes the examples of a sample into a part."""
        seen: set[bytes] = set()
        names = part.named()

        def write(sample: Sample) -> int:
            found = self._found(sample, part.source, names)
            return sum(self._add(part, one, seen) for one in found)

        return write

    def _found(
        self, sample: Sample, source: ReleaseStream, names: WireNames
    ) -> Iterator[TrainingExample | LeftOutRow]:
        """Yield what is written of a sample; answers are written one by one."""
        whole = partial(examples_of, source=source, names=names, most_tools=self.most_tools)
        teach = partial(whole, are_whole=self.are_whole)
        if source.answers is None or self.answered is None:
            yield from teach(sample)
            return
        answers = source.answers(sample)
        if self.of_runs is not None:
            yield from self.of_runs(sample, answers, teach)
        for one in whole(sample):
            yield from [one] if isinstance(one, LeftOutRow) else self.answered(one, answers)

    def _add(self, part: ReleaseSplit, one: TrainingExample | LeftOutRow, seen: set[bytes]) -> bool:
        """Whether an example is written: it is new, and the format has a place for it."""
        if isinstance(one, LeftOutRow):
            part.left_out[one] += 1
            return False
        content_parts: list[JsonValue] = []
        for said in (*one.messages, *([one.rejected] if one.rejected else ())):
            calls = [call["function"] for call in said.get("tool_calls", ())]
            content_parts.append([said["role"], said.get("content"), calls])
        wrong = [True] if one.is_wrong else []
        words = bytes.fromhex(content_key([content_parts, *sorted(one.sample.candidates), *wrong]))
        if words in seen:
            part.leave_out(one.sample, ONCE)
            return False
        seen.add(words)
        if self.is_templated and _TAG.search(orjson.dumps([content_parts, one.tools])):
            part.leave_out(one.sample, TAGGED)
            return False
        try:
            row = self.row_of(one)
        except RecordError as error:
            part.leave_out(one.sample, str(error))
            return False
        rate = {} if part.source.answers is None else {"pass_rate": one.pass_rate}
        ours = {**rate, **part.mark}
        part.add_line(f"{part.stem}.jsonl", row if self.has_origins else {**row, **ours})
        if self.has_origins:
            part.add_line(f"{part.stem}.origins.jsonl", one.origin | ours)
        return True


def examples_of(
    sample: Sample,
    source: ReleaseStream,
    names: WireNames | None = None,
    *,
    most_tools: int | None = None,
    are_whole: bool = False,
) -> Iterator[TrainingExample | LeftOutRow]:
    """Yield all that a sample teaches; `are_whole` omits beginnings of longer examples.

    `names` are those on the wire of all tools of the release; None finds them.

    If the source asks for one call at a time, no message of an example has several.
    """
    names = wire_names(source.tools.values()) if names is None else names
    tools = {source.tools[key].name: source.tools[key] for key in sample.candidates}
    briefing, refusal = _drawn_words(sample, source)
    # answers of candidates are to codes as they were shown
    turns = tuple(map(_shortened, sample.turns)) if source.answers is None else sample.turns
    dropped = _dropped(sample, [*tools], most_tools)
    listed = [tool for name, tool in tools.items() if name not in dropped]
    if problem := next(filter(None, (wire_schema(tool).problem for tool in listed)), ""):
        yield LeftOutRow(sample.kind, problem)
        return
    documents = tuple(wire_document(tool, names) for tool in listed)
    in_turn = source.one_call_at_a_time
    places, turns = zip(*(one_by_one(turns) if in_turn else enumerate(turns)), strict=True)
    taught_examples: list[TrainingExample] = []
    # nothing is learned from what was done until it went wrong
    until = sample.fault.until if sample.fault else 0
    first_turn = sum(place < until for place in places)
    for at in (at for at in _taught(turns) if at >= first_turn):
        problem = _problem(turns[first_turn:], at - first_turn, tools)
        problem = problem or (BROKEN if are_whole and _has_mistake(sample) else "")
        if not problem and at == len(turns) - 1 and untold_fields(sample):
            problem = NOT_TOLD
        turn = turns[at]
        is_idle = isinstance(turn, CallTurn) and not turn.calls
        is_wordless = is_idle and not isinstance(_following(turns, at), ReplyTurn)
        if problem := problem or (NO_WORDS if is_wordless and not refusal else ""):
            yield LeftOutRow(sample.kind, problem)
            continue
        example = TrainingExample(
            sample=sample,
            turn=places[at],
            before=tuple(openai_messages(briefing, turns[:at], names)),
            last=_last_message(turns, at, tools, names, refusal),
            tools=documents,
            names=names,
            tools_left_out=tuple(name for name in tools if name in dropped),
        )
        if in_turn and any(len(one.get("tool_calls", ())) > 1 for one in example.messages):
            yield LeftOutRow(sample.kind, TOGETHER)
        else:
            taught_examples.append(example)
    for at, example in enumerate(taught_examples):
        whole, others = tuple(example.messages), taught_examples[at + 1 :] if are_whole else []
        if not any(later.before[: len(whole)] == whole for later in others):
            yield example


def _has_mistake(sample: Sample) -> bool:
    """Whether a given turn has a call that the sample without its fault does not make."""
    if sample.fault is None:
        return False
    right = {call.bare.key for call in sample.fault.source.all_calls}
    given = [turn for turn in sample.turns[: sample.fault.until] if isinstance(turn, CallTurn)]
    return any(call.bare.key not in right for turn in given for call in turn.calls)


def one_by_one(turns: Sequence[Turn]) -> Iterator[tuple[int, Turn]]:
    """Yield turns with their places; parallel calls are a turn each, followed by their results.

    Calls stay together where not each has a result.
    """
    is_written = False
    for at, turn in enumerate(turns):
        following = _following(turns, at)
        if is_written:  # a result, with its call
            is_written = False
        elif (
            isinstance(turn, CallTurn)
            and turn.executed
            and isinstance(following, ResultTurn)
            and len(turn.calls) == len(following.results)
        ):
            is_written = True
            for call, result in zip(turn.calls, following.results, strict=True):
                yield at, turn.with_changes(calls=(call,))
                yield at + 1, following.with_changes(results=(result,))
        else:
            yield at, turn


def _drawn_words(sample: Sample, source: ReleaseStream) -> tuple[str, str]:
    """Return the assistant's system message, and how it says that no tool fits.

    They come from the sample, or else are drawn by its request, so that samples of one request
    begin alike and are taught once.
    """
    words = source.words.get(sample.language, AssistantWords())
    rng = Random(content_key([sample.request]))
    refusal, message = (rng.choice(one) if one else "" for one in words)
    return sample.briefing_after(sample.system_message or message), refusal


LONGEST_CODE = 1000
_CODE = re.compile(r"[\w+/=.:~%-]+", re.ASCII)
_KEPT, _DIGEST = 24, 16


def _shortened(turn: Turn) -> Turn:
    """Return a turn with codes over a thousand characters shortened.

    Copying them by heart teaches nothing. A code is shortened equally in results and in the
    calls that take it.
    """
    match turn:
        case CallTurn(calls=calls):
            short = tuple(call.with_changes(arguments=_short(call.arguments)) for call in calls)
            return turn.with_changes(calls=short) if short != calls else turn
        case ResultTurn(results=results):
            return turn.with_changes(results=tuple(map(_short, results)))
        case _:
            return turn


def _short(value: Any) -> Any:  # noqa: ANN401 - any JSON
    match value:
        case str() if len(value) > LONGEST_CODE and _CODE.fullmatch(value):
            return f"{value[:_KEPT]}{content_key(value)[:_DIGEST]}"
        case list() | tuple():
            return [_short(one) for one in value]
        case dict():
            return {name: _short(one) for name, one in value.items()}
        case _:
            return value


def _taught(turns: Sequence[Turn]) -> Iterator[int]:
    """Yield the turns of an assistant: snapshots, and what it says to a user or after a result."""
    for at, turn in enumerate(turns):
        before = turns[at - 1] if at else None
        answers = isinstance(turn, ReplyTurn) and isinstance(before, UserTurn | ResultTurn)
        if answers or isinstance(turn, CallTurn):
            yield at


def _problem(turns: Sequence[Turn], at: int, tools: dict[str, Tool]) -> str:
    """Return why a turn cannot be taught, or "" if it can."""
    earlier = [turn for turn in turns[:at] if isinstance(turn, CallTurn)]
    executed_calls = [call for turn in earlier if turn.executed for call in turn.calls]
    turn = turns[at]
    due = list(turn.calls) if isinstance(turn, CallTurn) else []
    lacks_due = any(_lacks(call, tools) for call in due if call.tool in tools)
    for call in (*executed_calls, *due):
        tool = tools.get(call.tool)
        if tool is None or not call.arguments.keys() <= tool.properties.keys():
            return NO_SUCH_TOOL
    if any(UNKNOWN in json_text(call.arguments) for call in (*executed_calls, *due)):
        return NOT_KNOWN
    is_asked = isinstance(_following(turns, at), ReplyTurn)
    if any(_lacks(call, tools) for call in executed_calls) or (lacks_due and not is_asked):
        return NOT_ASKED
    if _was_taken_for_made(turns[:at], tools):
        return NOT_MADE
    called = [*executed_calls, *(() if lacks_due else due)]
    stated = ((tools[call.tool].parameters, call.arguments) for call in called)
    is_valid = all(is_allowed(json_text(schema), json_text(given)) for schema, given in stated)
    return "" if is_valid else NOT_VALID


def _was_taken_for_made(turns: Sequence[Turn], tools: dict[str, Tool]) -> bool:
    """Whether the assistant speaks after a complete due call that was not made, as if it were."""
    for turn, following in pairwise(turns):
        if isinstance(turn, CallTurn) and turn.calls and not turn.executed:
            lacks = any(_lacks(call, tools) for call in turn.calls if call.tool in tools)
            if isinstance(following, ReplyTurn) and not lacks:
                return True
    return False


def _lacks(call: GoldCall, tools: dict[str, Tool]) -> bool:
    return any(name not in call.arguments for name in tools[call.tool].required)


@lru_cache(maxsize=4096)
def is_allowed(schema: str, arguments: str) -> bool:
    """Whether a schema allows arguments; patterns, unknown types and references allow all."""
    # without a registry of its own, jsonschema asks the network for what `$ref` names
    validator = _Validator(orjson.loads(schema), registry=Registry())
    try:
        return bool(validator.is_valid(orjson.loads(arguments)))
    except (UnknownType, Unresolvable):
        return True


def _following(turns: Sequence[Turn], at: int) -> Turn | None:
    return turns[at + 1] if at + 1 < len(turns) else None


def _dropped(sample: Sample, names: Sequence[str], most: int | None) -> set[str]:
    """Return the tools beyond the limit, last ones first; called tools are kept."""
    called = {call.tool for call in sample.all_calls}
    needless = [name for name in names if name not in called]
    return set() if most is None else set(needless[max(0, most - (len(names) - len(needless))) :])


def _last_message(
    turns: Sequence[Turn], at: int, tools: dict[str, Tool], names: WireNames, refusal: str
) -> Message:
    """Return what the assistant should do at a turn."""
    turn, following = turns[at], _following(turns, at)
    if isinstance(turn, ReplyTurn):
        return {"role": "assistant", "content": turn.text}
    calls = turn.calls if isinstance(turn, CallTurn) else ()
    if calls and not any(_lacks(call, tools) for call in calls):
        return {"role": "assistant", "tool_calls": tool_calls(calls, names, at)}
    words = following.text if isinstance(following, ReplyTurn) else refusal
    return {"role": "assistant", "content": words}


def names_by_call(example: TrainingExample) -> dict[str, str]:
    """The names of the tools that an example calls, by the ids of the calls."""
    calls = (call for one in example.messages for call in one.get("tool_calls", ()))
    return {call["id"]: call["function"]["name"] for call in calls}


def openai_messages(briefing: str, turns: Iterable[Turn], names: WireNames) -> Iterator[Message]:
    """Yield what was said, called and returned, in OpenAI's form.

    A snapshot at which nothing was carried out gives no message. The `briefing` comes first as a
    system message; calls have their `names` on the wire.
    """
    if briefing:
        yield {"role": "system", "content": briefing}
    for at, turn in enumerate(turns):
        match turn:
            case UserTurn():
                yield {"role": "user", "content": user_text(turn)}
            case CallTurn(calls=calls, executed=executed):
                if executed and calls:
                    yield {"role": "assistant", "tool_calls": tool_calls(calls, names, at)}
            case ResultTurn(results=results):
                for number, result in enumerate(results):
                    told = result if isinstance(result, str) else json_text(result)
                    call = f"call_{at - 1}_{number}"
                    yield {"role": "tool", "tool_call_id": call, "content": told}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text}
            case _:
                assert_never(turn)


def tool_calls(
    calls: Iterable[GoldCall | Call], names: WireNames, turn: int
) -> list[dict[str, Any]]:
    """Return calls as in an assistant's message, under their `names` on the wire."""
    made = []
    for number, call in enumerate(calls):
        given = names.arguments(call.tool, call.arguments)
        function = {"name": names.tool(call.tool), "arguments": json_text(given)}
        made.append({"id": f"call_{turn}_{number}", "type": "function", "function": function})
    return made
