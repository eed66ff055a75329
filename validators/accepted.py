"""The right answers of a sample: its gold, and what its request and its tools allow besides.

All of it follows from the sample and its tools, so nothing is stored twice: `allowances_of` lists
it with its evidence. An answer that makes use of it is read as the gold (`AcceptedAnswers`), so
that whatever compares answers with the gold counts them all.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, get_args

from pydantic import JsonValue

from callwright.generators.kinds import traits_of
from callwright.generators.tools import tools_by_name
from callwright.validators.asking_back import asks_for_missing
from callwright.validators.matching import are_same_members, free_order, is_same_value
from callwright.validators.metrics.mistakes import CallPair, pair_calls
from callwright.validators.toolset.redundancy import are_equal_tools
from callwright.warehouse.records import (
    Allowance,
    AnswerSort,
    Arguments,
    Call,
    CallTurn,
    GoldCall,
    JsonSchema,
    Prediction,
    Sample,
    Tool,
)

_SORTS: tuple[AnswerSort, ...] = get_args(AnswerSort)
_LONGEST_LIST = 64  # longer lists are compared in their order


def allowances_of(
    sample: Sample, turn: int, tools: Mapping[str, Tool], called: Collection[str] | None = None
) -> Iterator[Allowance]:
    """Yield what answers at a turn may do otherwise than its gold; `tools` are by key.

    Equal tools are looked for among those `called`, or all: that takes an encoder where tools have
    the same parameters.
    """
    by_name = tools_by_name(sample, tools)
    for place, due in enumerate(sample.calls_at(turn)):
        tool = by_name.get(due.tool)
        if tool is None:
            continue
        for name, schema in tool.properties.items():
            yield from (
                Allowance(
                    sort=sort, turn=turn, call=place, argument=name, value=value, evidence=evidence
                )
                for sort, value, evidence in _of_argument(due, tool, name, schema)
            )
        for other in by_name.values():
            if (called is None or other.name in called) and are_equal_tools(tool, other):
                yield Allowance(
                    sort="equal_tool", turn=turn, call=place, tool=other.name, evidence=other.key
                )


def _of_argument(
    due: GoldCall, tool: Tool, name: str, schema: JsonSchema
) -> Iterator[tuple[AnswerSort, JsonValue, str]]:
    """Yield what is allowed for an argument, its value, and the place that says so."""
    given, is_given = due.arguments.get(name), name in due.arguments
    is_required, default = name in tool.required, schema.get("default")
    may_lack = is_given and not is_required and is_same_value(given, default, schema)
    if default is not None and (may_lack or not is_given):
        yield "default", default, f"properties.{name}.default"
    is_list = isinstance(given, list) and 1 < len(given) <= _LONGEST_LIST
    if is_list and (word := free_order(name, schema)):
        yield "order", given, f"properties.{name}.{word}"
    if is_required and not is_given:
        yield "question", None, f"required.{name}"


class ReadAnswer(NamedTuple):
    """An answer as the gold has it, as far as it is right, and how it is right if it is."""

    prediction: Prediction
    sort: AnswerSort = "gold"


class AcceptedAnswers:
    """Reads answers to a sample as its gold; what was read before is read once."""

    def __init__(self, sample: Sample, tools: Mapping[str, Tool]) -> None:
        """Take a sample; `tools` by key have its candidates."""
        self._sample = sample
        self._tools = tools
        self._allowed: dict[tuple[int, frozenset[str]], list[Allowance]] = {}
        # an answer holds on to its calls: no others can then be taken for them
        self._read: dict[tuple[int, int, str], tuple[tuple[Call, ...], AnswerSort, object]] = {}

    def read(self, prediction: Prediction) -> ReadAnswer:
        """Return an answer with the gold in place of what is as right; its key stays.

        Where an answer is wrong in one thing, what is right in it counts all the same.
        """
        sample, turn = self._sample, prediction.turn
        due = sample.turns[turn] if 0 <= turn < len(sample.turns) else None
        if not isinstance(due, CallTurn) or not due.calls or prediction.calls is None:
            return ReadAnswer(prediction)
        seen = (turn, id(prediction.calls), "" if prediction.calls else prediction.text)
        if seen not in self._read:
            self._read[seen] = (*self._as_due(prediction, due.calls), prediction.calls)
        calls, sort, _ = self._read[seen]
        if calls is prediction.calls:
            return ReadAnswer(prediction, sort)
        return ReadAnswer(_with(prediction, calls), sort)

    def _as_due(
        self, prediction: Prediction, due: Sequence[GoldCall]
    ) -> tuple[tuple[Call, ...], AnswerSort]:
        made, sample = prediction.calls or (), self._sample
        if [(one.tool, one.arguments) for one in made] == [
            (one.tool, one.arguments) for one in due
        ]:
            return made, "gold"
        strange = {one.tool for one in made}.difference(one.tool for one in due)
        allowed = self._allowances(prediction.turn, frozenset(strange))
        if not made:
            is_question = any(one.sort == "question" for one in allowed) and self._asks(
                prediction.text, due
            )
            return (tuple(one.bare for one in due), "question") if is_question else (made, "gold")
        renamed = [_renamed(call, due, allowed) for call in made]
        sorts: set[AnswerSort] = {"equal_tool"} if tuple(renamed) != tuple(made) else set()
        for place, pair in enumerate(_pairs(due, renamed, sample)[: len(due)]):
            if pair.due is None or pair.made is None or pair.made.tool != pair.due.tool:
                continue
            own = [one for one in allowed if one.call == place]
            arguments, by = _aligned(pair.due, pair.made.arguments, own, self._schemas(pair.due))
            if by:
                sorts |= by
                at = next(at for at, call in enumerate(renamed) if call is pair.made)
                renamed[at] = Call(tool=pair.due.tool, arguments=arguments)
        return tuple(renamed) if sorts else made, max(sorts, key=_SORTS.index, default="gold")

    def _allowances(self, turn: int, called: frozenset[str]) -> list[Allowance]:
        wanted = (turn, called)
        if wanted not in self._allowed:
            self._allowed[wanted] = [*allowances_of(self._sample, turn, self._tools, called)]
        return self._allowed[wanted]

    def _schemas(self, due: GoldCall) -> Mapping[str, JsonSchema]:
        tool = tools_by_name(self._sample, self._tools).get(due.tool)
        return tool.properties if tool else {}

    def _asks(self, text: str, due: Sequence[GoldCall]) -> bool:
        by_name = tools_by_name(self._sample, self._tools)
        known = [(by_name[call.tool], call.arguments) for call in due if call.tool in by_name]
        return any(asks_for_missing(text, tool, given) for tool, given in known)


def _with(prediction: Prediction, calls: tuple[Call, ...]) -> Prediction:
    """Return a prediction with other calls under its own key, by which judges know it."""
    changed = prediction.model_copy(update={"calls": calls})
    vars(changed)["key"] = prediction.key
    return changed


def _renamed(call: Call, due: Sequence[GoldCall], allowed: Sequence[Allowance]) -> Call:
    """Return a call under the name of the due tool that does the same, if none is due itself."""
    if any(one.tool == call.tool for one in due):
        return call
    equal = (one for one in allowed if one.sort == "equal_tool" and one.tool == call.tool)
    found = next(equal, None)
    return call if found is None else Call(tool=due[found.call].tool, arguments=call.arguments)


def _pairs(due: Sequence[GoldCall], made: Sequence[Call], sample: Sample) -> list[CallPair]:
    traits = traits_of(sample.kind)
    if traits.asked == "plan" and traits.calls != "set":
        return [CallPair(*pair) for pair in zip_longest(due, made)]
    return pair_calls(due, made, sample.language)


def _aligned(
    due: GoldCall, given: Arguments, allowed: Sequence[Allowance], schemas: Mapping[str, JsonSchema]
) -> tuple[Arguments, set[AnswerSort]]:
    """Return the arguments as the gold has them where that is allowed, and what allowed it."""
    arguments, by = dict(given), set[AnswerSort]()
    for one in allowed:
        name, schema = one.argument, schemas.get(one.argument, {})
        if one.sort == "default" and name in due.arguments and name not in given:
            arguments[name] = due.arguments[name]
        elif one.sort == "default" and name in given and name not in due.arguments:
            if not is_same_value(one.value, given[name], schema):
                continue
            del arguments[name]
        elif one.sort == "order" and name in given and given[name] != due.arguments[name]:
            if not are_same_members(due.arguments[name], given[name], schema):
                continue
            arguments[name] = due.arguments[name]
        else:
            continue
        by.add(one.sort)
    return arguments, by
