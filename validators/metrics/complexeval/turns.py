"""The calls of one turn against what is due: mapping, format check and matching, in the order of
either mode.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.validators.matching import assign
from callwright.validators.metrics.complexeval.calls import (
    GoldenCall,
    call_text,
    check_format,
    golden_calls,
    is_equal,
    is_same_call,
    sorted_call,
)
from callwright.validators.metrics.complexeval.rules import UNORDERED, Mistake, RunRules
from callwright.warehouse.records import Call, EvalMode, Exchange, Tool

MatchedBy = Literal["", "free", "rule", "response", "judge"]
GENERAL_ERROR: Mapping[str, JsonValue] = {
    "error": "This call did not give what was needed. Look at the function and its arguments again."
}


class MatchedCall(NamedTuple):
    """A call of a turn: how it was matched ("" is not at all), the gold call it was held against,
    and what is wrong.

    `call` is None where what was given can't be read as a call. What a world answers to it stands
    alone in `answered`.
    """

    call: Call | None
    matched: MatchedBy = ""
    golden: GoldenCall | None = None
    mistake: Mistake | None = None
    answered: tuple[JsonValue, ...] = ()

    @property
    def observation(self) -> JsonValue:
        """What the model is stated: the recorded response, what is wrong with the form, or that
        something is wrong.
        """
        if self.answered:
            return self.answered[0]
        if self.matched and self.golden is not None:
            return self.golden.response
        if self.mistake is not None and (
            self.mistake.is_format_error or self.mistake.kind == "decode_error"
        ):
            return {"error": self.mistake.reason}
        return dict(GENERAL_ERROR)


class TurnResult(NamedTuple):
    """The judged calls of a turn in their order; `errors` as the published code lists them.

    `crash` says why that code would have broken off here, "" where it would not.
    """

    calls: tuple[MatchedCall, ...] = ()
    errors: tuple[Mistake, ...] = ()
    crash: str = ""

    @property
    def matched(self) -> list[GoldenCall]:
        """The gold calls that were found."""
        return [one.golden for one in self.calls if one.matched and one.golden is not None]


class FreeCalls:
    """The distinct gold calls of free functions, known by their JSON text as it stands, and
    which were made so far.
    """

    def __init__(self, chain: Sequence[Exchange] = (), functions: Collection[str] = ()) -> None:
        golden = [one for number, step in enumerate(chain) for one in golden_calls(step, number)]
        self._known = {call_text(one.call): one for one in golden if one.call.tool in functions}
        self._made: list[str] = []

    @property
    def made(self) -> tuple[str, ...]:
        """The texts of the free calls that were made beside what was due, each once."""
        return tuple(self._made)

    def find(self, call: Call) -> GoldenCall | None:
        """The gold call that a free call is; None where it is none."""
        return self._known.get(call_text(call))

    def mark(self, call: Call) -> None:
        """Note that a free call was made beside what was due."""
        text = call_text(call)
        if text not in self._made:
            self._made.append(text)

    def is_made(self, call: Call) -> bool:
        """Whether this very text was noted as made."""
        return call_text(call) in self._made


Mapped = Literal["equal", "free", "like"]
Respond = Callable[[Call], Awaitable[JsonValue]]
"""What a call returns when it is made now; None where there is no response."""
Judge = Callable[[Call, Call], Awaitable[bool]]
"""Whether a call (the first) means the same as the gold call (the second)."""
Likeness = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[float]]]
"""How like each of some texts is to each of others: a row a text, a column an other."""
_EMPTY = Mistake(
    "empty_response",
    "",
    "A call that a gold call was found equal to in another way has an empty response.",
)


class Matchers(NamedTuple):
    """What mapping and matching ask of others; without `respond` or `judge` that matching finds
    no call equal.
    """

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
    made: Sequence[tuple[int, Call]],
    golden: Sequence[GoldenCall],
    likeness: Likeness,
    free: FreeCalls,
) -> list[Pair]:
    """Pairs in the order of the calls; what is too many on either side is in none.

    Free calls are marked as made.
    """
    due, pairs, left = list(golden), [], []
    for at, call in made:
        found = next((index for index, one in enumerate(due) if is_same_call(call, one.call)), None)
        lookup = free.find(sorted_call(call)) if found is None else None
        if found is not None:
            pairs.append(Pair(at, due.pop(found), "equal"))
        elif lookup is not None:
            free.mark(lookup.call)
            pairs.append(Pair(at, lookup, "free"))
        else:
            left.append((at, call))
    places = [(0, 0)] if len(left) == len(due) == 1 else []
    if left and due and not places:
        sides = ([call for _, call in left], [one.call for one in due])
        texts = [[call_text(sorted_call(call)) for call in side] for side in sides]
        places = assign(likeness(texts[0], texts[1]))
    pairs += [Pair(left[row][0], due[column], "like") for row, column in places]
    return sorted(pairs, key=lambda pair: pair.at)


def match_by_rule(made: Call, golden: Call, unordered: Collection[str] = ()) -> bool:
    """Whether both name the same function with equal arguments; texts of `unordered` are lists
    without an order.
    """
    has_same_names = made.tool == golden.tool and made.arguments.keys() == golden.arguments.keys()
    return has_same_names and not _differing(made, golden, unordered)


def check_values(
    made: Call,
    golden: Call,
    exact: Mapping[str, Collection[str]],
    unordered: Collection[str] = UNORDERED,
) -> Mistake | None:
    """The first gold argument that must be equal and is not; None leaves the call to the
    response and the judge.
    """
    if made.tool != golden.tool:
        return wrong_function(made, golden)
    listed = exact.get(golden.tool, ())
    differing = [name for name in _differing(made, golden, unordered) if name in listed]
    return _about(made, differing[0]) if differing else None


def describe_difference(made: Call, golden: Call, unordered: Collection[str] = ()) -> Mistake:
    """What is wrong with a call of the right function that no matching accepts: a gold argument,
    or one too many.
    """
    differing = _differing(made, golden, unordered)
    if differing:
        return _about(made, differing[0])
    extra = next((name for name in made.arguments if name not in golden.arguments), "")
    return Mistake(
        "param_hallucination", extra, f"{made.tool} was given {extra!r}, which nobody asked for."
    )


def wrong_arguments(made: Call, golden: Call, unordered: Collection[str] = ()) -> tuple[str, ...]:
    """The gold arguments that a call lacks or gives another value; all of them where it calls
    another function.
    """
    return (
        tuple(golden.arguments)
        if made.tool != golden.tool
        else tuple(_differing(made, golden, unordered))
    )


def wrong_function(made: Call, golden: Call) -> Mistake:
    """The mistake of calling another function than the one due."""
    return Mistake("func_error", "", f"{made.tool!r} was called where {golden.tool!r} is due.")


async def _compare_as_paper(
    made: Sequence[Call], golden: Sequence[GoldenCall], setting: Setting
) -> TurnResult:
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
    """Mapping first, then the format of what is mapped; free calls beside what is due
    (EVALUATORS 2.4).
    """
    due = [one._replace(call=sorted_call(one.call)) for one in golden if not free.is_made(one.call)]
    if not due:
        crash = (
            "All that is due was made before as free calls, and the published code has no branch"
            " for that."
        )
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
        found, emptied = await _match_as_published(call, pair, setting)
        if emptied:
            errors, is_broken = [_EMPTY], True
        judged[pair.at] = found
        if found.mistake is not None:
            if is_broken:
                crash = (
                    crash
                    or f"After an empty response to {call.tool!r} the published code can't note the mistake."  # noqa: E501
                )
            errors.append(found.mistake)
    return TurnResult(
        tuple(judged.get(at) or _surplus(call) for at, call in enumerate(calls)),
        tuple(errors),
        crash,
    )


async def _match_as_published(call: Call, pair: Pair, setting: Setting) -> tuple[MatchedCall, bool]:
    """The call as it was matched, and whether its response was empty."""
    golden, matchers, rules = pair.golden.call, setting.matchers, setting.rules
    if pair.by == "free":
        return MatchedCall(call, "free", pair.golden), False
    if match_by_rule(call, golden, rules.unordered):
        return MatchedCall(call, "rule", pair.golden), False
    mistake = check_values(call, golden, rules.exact, rules.unordered)
    if mistake is not None:
        return MatchedCall(call, "", pair.golden, mistake), False
    response = None if matchers.respond is None else await matchers.respond(call)
    emptied = response == {}
    if not emptied and await _answers_alike(response, golden, matchers):
        return MatchedCall(call, "response", pair.golden), False
    if matchers.judge is not None and await matchers.judge(call, golden):
        return MatchedCall(call, "judge", pair.golden), emptied
    return MatchedCall(call, "", pair.golden, describe_difference(call, golden)), emptied


async def _answers_alike(response: JsonValue, golden: Call, matchers: Matchers) -> bool:
    """Whether the gold call has this response too; without a response nothing is alike."""
    return (
        response is not None
        and matchers.respond is not None
        and is_equal(response, await matchers.respond(golden))
    )


def _surplus(call: Call) -> MatchedCall:
    """A call that no gold call was left for."""
    return MatchedCall(
        call,
        mistake=Mistake("func_error", "", f"Nothing that is due is left for this {call.tool!r}."),
    )


def _differing(made: Call, golden: Call, unordered: Collection[str] = ()) -> list[str]:
    return [
        name
        for name, value in golden.arguments.items()
        if name not in made.arguments
        or not _is_same_value(made.arguments[name], value, is_unordered=name in unordered)
    ]


def _about(made: Call, name: str) -> Mistake:
    if name not in made.arguments:
        return Mistake("param_missing", name, f"{made.tool} lacks {name!r}.")
    return Mistake(
        "value_error", name, f"{made.tool} has another value for {name!r} than the one due."
    )


def _is_same_value(made: JsonValue, golden: JsonValue, *, is_unordered: bool) -> bool:
    if not (is_unordered and isinstance(made, str) and isinstance(golden, str)):
        return is_equal(made, golden)
    return {part.strip() for part in made.split(",")} == {
        part.strip() for part in golden.split(",")
    }
