"""The calls of one turn against what is due: mapping, format check and matching, in the order of either mode."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import JsonValue

from validators.metrics.complexeval.calls import GoldenCall, is_equal, sorted_call
from validators.metrics.complexeval.formats import check_format
from validators.metrics.complexeval.free_calls import FreeCalls
from validators.metrics.complexeval.mapping import Likeness, Pair, map_calls
from validators.metrics.complexeval.matching import check_values, describe_difference, match_by_rule, wrong_function
from validators.metrics.complexeval.mistakes import Mistake
from warehouse.records import Call

if TYPE_CHECKING:
    from validators.metrics.complexeval.rules import Rules
    from warehouse.records import EvalMode, Tool

MatchedBy = Literal["", "free", "rule", "response", "judge"]
Respond = Callable[[Call], Awaitable[JsonValue]]
"""What a call returns when it is made now; None where there is no response."""
Judge = Callable[[Call, Call], Awaitable[bool]]
"""Whether a call (the first) means the same as the gold call (the second)."""


GENERAL_ERROR: Mapping[str, JsonValue] = {
    "error": "This call did not give what was needed. Look at the function and its arguments again."
}


class Matchers(NamedTuple):
    """What mapping and matching ask of others; without `respond` or `judge` that matching finds no call equal."""

    likeness: Likeness
    respond: Respond | None = None
    judge: Judge | None = None


class JudgedCall(NamedTuple):
    """A call of a turn: how it was matched ("" is not at all), the gold call it was held against, and what is wrong.

    `call` is None where what was given can't be read as a call.
    """

    call: Call | None
    matched: MatchedBy = ""
    golden: GoldenCall | None = None
    mistake: Mistake | None = None

    @property
    def observation(self) -> JsonValue:
        """What the model is told: the recorded response, what is wrong with the form, or that something is wrong."""
        if self.matched and self.golden is not None:
            return self.golden.response
        if self.mistake is not None and (self.mistake.is_format_error or self.mistake.kind == "decode_error"):
            return {"error": self.mistake.reason}
        return dict(GENERAL_ERROR)


class TurnResult(NamedTuple):
    """The judged calls of a turn in their order; `errors` as the published code lists them.

    `crash` says why that code would have broken off here, "" where it would not.
    """

    calls: tuple[JudgedCall, ...] = ()
    errors: tuple[Mistake, ...] = ()
    crash: str = ""

    @property
    def matched(self) -> list[GoldenCall]:
        """The gold calls that were found."""
        return [one.golden for one in self.calls if one.matched and one.golden is not None]


class Setting(NamedTuple):
    """What all turns of a run share; `tools` are by name."""

    mode: EvalMode
    tools: Mapping[str, Tool]
    matchers: Matchers
    rules: Rules


async def compare_turn(
    made: Sequence[Call], golden: Sequence[GoldenCall], setting: Setting, free: FreeCalls
) -> TurnResult:
    """Hold the calls of one turn against the gold calls that are due."""
    if setting.mode == "as_paper":
        return await _compare_as_paper(made, golden, setting)
    return await _compare_as_published(made, golden, setting, free)


async def _compare_as_paper(made: Sequence[Call], golden: Sequence[GoldenCall], setting: Setting) -> TurnResult:
    """The format first; what passes is mapped and matched (ComplexFuncBench 3.1)."""
    judged = {
        at: JudgedCall(call, mistake=mistake)
        for at, call in enumerate(made)
        if (mistake := check_format(call, setting.tools, setting.mode)) is not None
    }
    passed = [(at, call) for at, call in enumerate(made) if at not in judged]
    for pair in map_calls(passed, golden, setting.matchers.likeness, FreeCalls()):
        judged[pair.at] = await _match_as_paper(made[pair.at], pair, setting.matchers)
    calls = tuple(judged.get(at) or _surplus(call) for at, call in enumerate(made))
    return TurnResult(calls, tuple(one.mistake for one in calls if one.mistake is not None))


async def _match_as_paper(call: Call, pair: Pair, matchers: Matchers) -> JudgedCall:
    golden = pair.golden.call
    if pair.by == "equal":
        return JudgedCall(call, "rule", pair.golden)
    if call.tool != golden.tool:
        return JudgedCall(call, "", pair.golden, wrong_function(call, golden))
    response = None if matchers.respond is None else await matchers.respond(call)
    if await _answers_alike(response, golden, matchers):
        return JudgedCall(call, "response", pair.golden)
    if matchers.judge is not None and await matchers.judge(call, golden):
        return JudgedCall(call, "judge", pair.golden)
    return JudgedCall(call, "", pair.golden, describe_difference(call, golden))


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
    judged: dict[int, JudgedCall] = {}
    errors: list[Mistake] = []
    crash, is_broken = "", False
    for pair in pairs:
        call = calls[pair.at]
        mistake = check_format(call, setting.tools, setting.mode)
        if mistake is not None:
            judged[pair.at] = JudgedCall(call, "", pair.golden, mistake)
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
    judged: JudgedCall
    emptied: bool = False


_EMPTY = Mistake(
    "empty_response", "", "A call that a gold call was found equal to in another way has an empty response."
)


async def _match_as_published(call: Call, pair: Pair, setting: Setting) -> _Match:
    golden, matchers, rules = pair.golden.call, setting.matchers, setting.rules
    if pair.by == "free":
        return _Match(JudgedCall(call, "free", pair.golden))
    if match_by_rule(call, golden, rules.unordered):
        return _Match(JudgedCall(call, "rule", pair.golden))
    mistake = check_values(call, golden, rules.exact)
    if mistake is not None:
        return _Match(JudgedCall(call, "", pair.golden, mistake))
    response = None if matchers.respond is None else await matchers.respond(call)
    emptied = response == {}
    if not emptied and await _answers_alike(response, golden, matchers):
        return _Match(JudgedCall(call, "response", pair.golden))
    if matchers.judge is not None and await matchers.judge(call, golden):
        return _Match(JudgedCall(call, "judge", pair.golden), emptied)
    return _Match(JudgedCall(call, "", pair.golden, describe_difference(call, golden)), emptied)


async def _answers_alike(response: JsonValue, golden: Call, matchers: Matchers) -> bool:
    """Whether the gold call has this response too; without a response nothing is alike."""
    return response is not None and matchers.respond is not None and is_equal(response, await matchers.respond(golden))


def _surplus(call: Call) -> JudgedCall:
    """A call that no gold call was left for."""
    return JudgedCall(call, mistake=Mistake("func_error", "", f"Nothing that is due is left for this {call.tool!r}."))
