"""The calls of one turn against what is due: mapping, format check and matching, in the order of either mode."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.validators.matching.calls import assign
from callwright.validators.metrics.complexeval.calls import GoldenCall, call_text, check_format, is_equal, sorted_call
from callwright.validators.metrics.complexeval.golden import FreeCalls, MatchedCall, TurnResult
from callwright.validators.metrics.complexeval.rules import UNORDERED, Mistake, RunRules
from callwright.warehouse.records import Call, EvalMode, Tool

Mapped = Literal["equal", "free", "like"]
Respond = Callable[[Call], Awaitable[JsonValue]]
"""What a call returns when it is made now; None where there is no response."""
Judge = Callable[[Call, Call], Awaitable[bool]]
"""Whether a call (the first) means the same as the gold call (the second)."""
Likeness = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[float]]]
"""How like each of some texts is to each of others: a row a text, a column an other."""
_EMPTY = Mistake(
    "empty_response", "", "A call that a gold call was found equal to in another way has an empty response."
)


class Matchers(NamedTuple):
    """What mapping and matching ask of others; without `respond` or `judge` that matching finds no call equal."""

    likeness: Likeness
    respond: Respond | None = None
    judge: Judge | None = None


class Setting(NamedTuple):
    """What all turns of a run share; `tools` are by name."""

    mode: EvalMode
    tools: Mapping[str, Tool]
    matchers: Matchers
    rules: RunRules


class Pair(NamedTuple):
    """A call by its place in the turn, the gold call it is held against, and why."""

    at: int
    golden: GoldenCall
    by: Mapped


async def compare_turn(
    made: Sequence[Call], golden: Sequence[GoldenCall], setting: Setting, free: FreeCalls
) -> TurnResult:
    """Hold the calls of one turn against the gold calls that are due."""
    if setting.mode == "as_paper":
        return await _compare_as_paper(made, golden, setting)
    return await _compare_as_published(made, golden, setting, free)


def map_calls(
    made: Sequence[tuple[int, Call]], golden: Sequence[GoldenCall], likeness: Likeness, free: FreeCalls
) -> list[Pair]:
    """Pairs in the order of the calls; what is too many on either side is in none. Free calls are marked as made."""
    due, pairs, left = list(golden), [], []
    for at, call in made:
        found = next((index for index, one in enumerate(due) if _are_equal(call, one.call)), None)
        lookup = free.find(sorted_call(call)) if found is None else None
        if found is not None:
            pairs.append(Pair(at, due.pop(found), "equal"))
        elif lookup is not None:
            free.mark(lookup.call)
            pairs.append(Pair(at, lookup, "free"))
        else:
            left.append((at, call))
    for row, column in _assign_left([call for _, call in left], [one.call for one in due], likeness):
        pairs.append(Pair(left[row][0], due[column], "like"))
    return sorted(pairs, key=lambda pair: pair.at)


def match_by_rule(made: Call, golden: Call, unordered: Collection[str] = ()) -> bool:
    """Whether both name the same function with equal arguments; texts of `unordered` are lists without an order."""
    if made.tool != golden.tool or made.arguments.keys() != golden.arguments.keys():
        return False
    return all(
        _is_same_value(made.arguments[name], value, is_unordered=name in unordered)
        for name, value in golden.arguments.items()
    )


def check_values(
    made: Call, golden: Call, exact: Mapping[str, Collection[str]], unordered: Collection[str] = UNORDERED
) -> Mistake | None:
    """The first gold argument that must be equal and is not; None leaves the call to the response and the judge."""
    if made.tool != golden.tool:
        return wrong_function(made, golden)
    listed = exact.get(golden.tool, ())
    differing = [name for name in _differing(made, golden, unordered) if name in listed]
    return _about(made, differing[0]) if differing else None


def describe_difference(made: Call, golden: Call, unordered: Collection[str] = ()) -> Mistake:
    """What is wrong with a call of the right function that no matching accepts: a gold argument, or one too many."""
    differing = _differing(made, golden, unordered)
    if differing:
        return _about(made, differing[0])
    extra = next((name for name in made.arguments if name not in golden.arguments), "")
    return Mistake("param_hallucination", extra, f"{made.tool} was given {extra!r}, which nobody asked for.")


def wrong_arguments(made: Call, golden: Call, unordered: Collection[str] = ()) -> tuple[str, ...]:
    """The gold arguments that a call lacks or gives another value; all of them where it calls another function."""
    return tuple(golden.arguments) if made.tool != golden.tool else tuple(_differing(made, golden, unordered))


def wrong_function(made: Call, golden: Call) -> Mistake:
    """The mistake of calling another function than the one due."""
    return Mistake("func_error", "", f"{made.tool!r} was called where {golden.tool!r} is due.")


async def _compare_as_paper(made: Sequence[Call], golden: Sequence[GoldenCall], setting: Setting) -> TurnResult:
    """The format first; what passes is mapped and matched (ComplexFuncBench 3.1)."""
    judged = {
        at: MatchedCall(call, mistake=mistake)
        for at, call in enumerate(made)
        if (mistake := check_format(call, setting.tools, setting.mode)) is not None
    }
    passed = [(at, call) for at, call in enumerate(made) if at not in judged]
    for pair in map_calls(passed, golden, setting.matchers.likeness, FreeCalls()):
        judged[pair.at] = await _match_as_paper(made[pair.at], pair, setting)
    calls = tuple(judged.get(at) or _surplus(call) for at, call in enumerate(made))
    return TurnResult(calls, tuple(one.mistake for one in calls if one.mistake is not None))


async def _match_as_paper(call: Call, pair: Pair, setting: Setting) -> MatchedCall:
    golden, matchers, unordered = pair.golden.call, setting.matchers, setting.rules.unordered
    if pair.by == "equal" or match_by_rule(call, golden, unordered):
        return MatchedCall(call, "rule", pair.golden)
    if call.tool != golden.tool:
        return MatchedCall(call, "", pair.golden, wrong_function(call, golden))
    response = None if matchers.respond is None else await matchers.respond(call)
    if await _answers_alike(response, golden, matchers):
        return MatchedCall(call, "response", pair.golden)
    if matchers.judge is not None and await matchers.judge(call, golden):
        return MatchedCall(call, "judge", pair.golden)
    return MatchedCall(call, "", pair.golden, describe_difference(call, golden, unordered))


async def _compare_as_published(
    made: Sequence[Call], golden: Sequence[GoldenCall], setting: Setting, free: FreeCalls
) -> TurnResult:
    """Mapping first, then the format of what is mapped; free calls beside what is due (EVALUATORS 2.4)."""
    due = [one._replace(call=sorted_call(one.call)) for one in golden if not free.is_made(one.call)]
    if not due:
        crash = "All that is due was made before as free calls, and the published code has no branch for that."
        return TurnResult(tuple(map(_surplus, made)), crash=crash)
    calls = [sorted_call(call) for call in made]
    pairs = map_calls(list(enumerate(calls)), due, setting.matchers.likeness, free)
    judged: dict[int, MatchedCall] = {}
    errors: list[Mistake] = []
    crash, is_broken = "", False
    for pair in pairs:
        call = calls[pair.at]
        mistake = check_format(call, setting.tools, setting.mode)
        if mistake is not None:
            judged[pair.at] = MatchedCall(call, "", pair.golden, mistake)
            continue
        match = await _match_as_published(call, pair, setting)
        if match.emptied:
            errors, is_broken = [_EMPTY], True
        judged[pair.at] = match.judged
        if match.judged.mistake is not None:
            if is_broken:
                crash = crash or f"After an empty response to {call.tool!r} the published code can't note the mistake."
            errors.append(match.judged.mistake)
    return TurnResult(tuple(judged.get(at) or _surplus(call) for at, call in enumerate(calls)), tuple(errors), crash)


class _Match(NamedTuple):
    judged: MatchedCall
    emptied: bool = False


async def _match_as_published(call: Call, pair: Pair, setting: Setting) -> _Match:
    golden, matchers, rules = pair.golden.call, setting.matchers, setting.rules
    if pair.by == "free":
        return _Match(MatchedCall(call, "free", pair.golden))
    if match_by_rule(call, golden, rules.unordered):
        return _Match(MatchedCall(call, "rule", pair.golden))
    mistake = check_values(call, golden, rules.exact, rules.unordered)
    if mistake is not None:
        return _Match(MatchedCall(call, "", pair.golden, mistake))
    response = None if matchers.respond is None else await matchers.respond(call)
    emptied = response == {}
    if not emptied and await _answers_alike(response, golden, matchers):
        return _Match(MatchedCall(call, "response", pair.golden))
    if matchers.judge is not None and await matchers.judge(call, golden):
        return _Match(MatchedCall(call, "judge", pair.golden), emptied)
    return _Match(MatchedCall(call, "", pair.golden, describe_difference(call, golden)), emptied)


async def _answers_alike(response: JsonValue, golden: Call, matchers: Matchers) -> bool:
    """Whether the gold call has this response too; without a response nothing is alike."""
    return response is not None and matchers.respond is not None and is_equal(response, await matchers.respond(golden))


def _surplus(call: Call) -> MatchedCall:
    """A call that no gold call was left for."""
    return MatchedCall(call, mistake=Mistake("func_error", "", f"Nothing that is due is left for this {call.tool!r}."))


def _differing(made: Call, golden: Call, unordered: Collection[str] = ()) -> list[str]:
    return [
        name
        for name, value in golden.arguments.items()
        if name not in made.arguments or not _is_same_value(made.arguments[name], value, is_unordered=name in unordered)
    ]


def _about(made: Call, name: str) -> Mistake:
    if name not in made.arguments:
        return Mistake("param_missing", name, f"{made.tool} lacks {name!r}.")
    return Mistake("value_error", name, f"{made.tool} has another value for {name!r} than the one due.")


def _is_same_value(made: JsonValue, golden: JsonValue, *, is_unordered: bool) -> bool:
    if not (is_unordered and isinstance(made, str) and isinstance(golden, str)):
        return is_equal(made, golden)
    return {part.strip() for part in made.split(",")} == {part.strip() for part in golden.split(",")}


def _assign_left(made: Sequence[Call], due: Sequence[Call], likeness: Likeness) -> list[tuple[int, int]]:
    if not made or not due:
        return []
    if len(made) == len(due) == 1:
        return [(0, 0)]
    texts = [[call_text(sorted_call(call)) for call in calls] for calls in (made, due)]
    return assign(likeness(texts[0], texts[1]))


def _are_equal(one: Call, other: Call) -> bool:
    return one.tool == other.tool and is_equal(one.arguments, other.arguments)
