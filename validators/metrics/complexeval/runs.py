"""A run over one sample, driven by a model: `take` its calls, `finish` with its last words.

The rules are those of ComplexFuncBench 3.1. A typical use:

    run = SampleRun(
        chain_of(sample), tools, "as_paper", Matchers(likenesses, respond, judge),
        RunRules(turn_limit=20),
    )
    while run.outcome is None:
        # ask the model; if it makes calls:
        judged = await run.take(calls)
        # then show it [one.observation for one in judged]
        # if it makes no calls; text is None if it gave no answer at all:
        await run.finish(text)
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.validators.matching import assign
from callwright.validators.metrics.complexeval.calls import (
    CandidateCall,
    GoldenCall,
    call_text,
    check_format,
    golden_calls,
    is_equal,
    is_same_call,
    read_call,
    sorted_call,
)
from callwright.validators.metrics.complexeval.rules import SUCCESS, UNORDERED, Mistake, RunRules
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Call, EvalMode, Exchange, Tool

MatchedBy = Literal["", "free", "rule", "response", "judge"]
GENERAL_ERROR: Mapping[str, JsonValue] = {
    "error": "This call did not give what was needed. Look at the function and its arguments again."
}


class MatchedCall(NamedTuple):
    """A call of a turn: how it was matched ("" if not at all), its gold call, and its mistake.

    `call` is None if the input can't be read as a call. A world's answer to it is the only
    element of `answered`.
    """

    call: Call | None
    matched: MatchedBy = ""
    golden: GoldenCall | None = None
    mistake: Mistake | None = None
    answered: tuple[JsonValue, ...] = ()

    @property
    def observation(self) -> JsonValue:
        """What the model gets: the recorded response, the format error, or a general error."""
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
    """The judged calls of a turn in order; `errors` as the published code lists them.

    `crash` says why that code would have failed here, or "" if it would not.
    """

    calls: tuple[MatchedCall, ...] = ()
    errors: tuple[Mistake, ...] = ()
    crash: str = ""

    @property
    def matched(self) -> list[GoldenCall]:
        """The gold calls that were found."""
        return [one.golden for one in self.calls if one.matched and one.golden is not None]


class FreeCalls:
    """The distinct gold calls of free functions, by their JSON text, and those made so far."""

    def __init__(self, chain: Sequence[Exchange] = (), functions: Collection[str] = ()) -> None:
        golden = [one for number, step in enumerate(chain) for one in golden_calls(step, number)]
        self._known = {call_text(one.call): one for one in golden if one.call.tool in functions}
        self._made: list[str] = []

    @property
    def made(self) -> tuple[str, ...]:
        """The distinct texts of the free calls made besides what was due."""
        return tuple(self._made)

    def find(self, call: Call) -> GoldenCall | None:
        """Return the gold call that equals a free call, or None."""
        return self._known.get(call_text(call))

    def mark(self, call: Call) -> None:
        """Record that a free call was made besides what was due."""
        text = call_text(call)
        if text not in self._made:
            self._made.append(text)

    def is_made(self, call: Call) -> bool:
        """Whether a call with exactly this text was recorded."""
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
    """What mapping and matching ask of others.

    Without `respond` or `judge`, that matching finds no call equal.
    """

    likeness: Likeness
    respond: Respond | None = None
    judge: Judge | None = None


class Setting(NamedTuple):
    """The settings that all turns of a run share; `tools` are by name."""

    mode: EvalMode
    tools: Mapping[str, Tool]
    matchers: Matchers
    rules: RunRules


class Pair(NamedTuple):
    """A call by its place in the turn, its gold call, and why they are paired."""

    at: int
    golden: GoldenCall
    by: Mapped


async def compare_turn(
    made: Sequence[Call], golden: Sequence[GoldenCall], setting: Setting, free: FreeCalls
) -> TurnResult:
    """Compare the calls of one turn with the gold calls that are due."""
    if setting.mode == "as_paper":
        return await _compare_as_paper(made, golden, setting)
    return await _compare_as_published(made, golden, setting, free)


def map_calls(
    made: Sequence[tuple[int, Call]],
    golden: Sequence[GoldenCall],
    likeness: Likeness,
    free: FreeCalls,
) -> list[Pair]:
    """Return pairs in the order of the calls, without surplus calls on either side.

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
    """Whether both are equal calls; texts of `unordered` are lists without an order."""
    has_same_names = made.tool == golden.tool and made.arguments.keys() == golden.arguments.keys()
    return has_same_names and not _differing(made, golden, unordered)


def check_values(
    made: Call,
    golden: Call,
    exact: Mapping[str, Collection[str]],
    unordered: Collection[str] = UNORDERED,
) -> Mistake | None:
    """Return the mistake in the first gold argument that must be equal and is not.

    None leaves the call to the response and the judge.
    """
    if made.tool != golden.tool:
        return wrong_function(made, golden)
    listed = exact.get(golden.tool, ())
    differing = [name for name in _differing(made, golden, unordered) if name in listed]
    return _about(made, differing[0]) if differing else None


def describe_difference(made: Call, golden: Call, unordered: Collection[str] = ()) -> Mistake:
    """Return what is wrong with a call of the right function: a gold argument, or an extra one."""
    differing = _differing(made, golden, unordered)
    if differing:
        return _about(made, differing[0])
    extra = next((name for name in made.arguments if name not in golden.arguments), "")
    return Mistake(
        "param_hallucination", extra, f"{made.tool} was given {extra!r}, which nobody asked for."
    )


def wrong_arguments(made: Call, golden: Call, unordered: Collection[str] = ()) -> tuple[str, ...]:
    """Return the gold arguments that a call misses; all of them if it calls another function."""
    if made.tool != golden.tool:
        return tuple(golden.arguments)
    return tuple(_differing(made, golden, unordered))


def wrong_function(made: Call, golden: Call) -> Mistake:
    """The mistake of calling another function than the one due."""
    return Mistake("func_error", "", f"{made.tool!r} was called where {golden.tool!r} is due.")


async def _compare_as_paper(
    made: Sequence[Call], golden: Sequence[GoldenCall], setting: Setting
) -> TurnResult:
    """Check the format first, then map and match what passes (ComplexFuncBench 3.1)."""
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
    """Map first, then check the format; free calls are allowed too (EVALUATORS 2.4)."""
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
        matched_call, emptied = await _match_as_published(call, pair, setting)
        if emptied:
            errors, is_broken = [_EMPTY], True
        judged[pair.at] = matched_call
        if matched_call.mistake is not None:
            if is_broken:
                crash = (
                    crash
                    or f"After an empty response to {call.tool!r} the published code can't note the mistake."  # noqa: E501
                )
            errors.append(matched_call.mistake)
    return TurnResult(
        tuple(judged.get(at) or _surplus(call) for at, call in enumerate(calls)),
        tuple(errors),
        crash,
    )


async def _match_as_published(call: Call, pair: Pair, setting: Setting) -> tuple[MatchedCall, bool]:
    """Return the call with its match, and whether its response was empty."""
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
    """Whether the gold call has the same response; without a response nothing is alike."""
    return (
        response is not None
        and matchers.respond is not None
        and is_equal(response, await matchers.respond(golden))
    )


def _surplus(call: Call) -> MatchedCall:
    """Return the result for a call for which no gold call was left."""
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


class RunOutcome(NamedTuple):
    """The end of a run.

    It succeeded if there is neither a `problem` of the run nor any `mistakes` in its calls.

    `success_turns` are the steps of the path before the first incomplete one; `real_turns` the
    turns with judged calls; `last_step` counts as the published code does, even beyond the last
    step.
    """

    problem: Mistake | None
    mistakes: tuple[Mistake, ...]
    success_turns: int
    total_turns: int
    correct_calls: int
    total_calls: int
    real_turns: int
    last_step: int
    remaining: tuple[Call, ...]

    @property
    def success(self) -> bool:
        """Whether the run did everything that was due, without mistakes."""
        return self.problem is None and not self.mistakes

    @property
    def error(self) -> Mistake | None:
        """The mistake that the run is counted under, or None if it succeeded."""
        return self.problem or next(iter(self.mistakes), None)

    @property
    def message(self) -> JsonValue:
        """The outcome in the form of the published results."""
        if self.problem is not None:
            return _stated(self.problem)
        return [_stated(one) for one in self.mistakes] or SUCCESS


class SampleRun:
    """The state of a run.

    `outcome` is None until it ends, by its last word, by a mistake or by the turn limit.
    """

    def __init__(
        self,
        chain: Sequence[Exchange],
        tools: Iterable[Tool],
        mode: EvalMode,
        matchers: Matchers,
        rules: RunRules = RunRules(),  # noqa: B008 - an immutable value
    ) -> None:
        self.outcome: RunOutcome | None = None
        self.turns: list[tuple[MatchedCall, ...]] = []  # of each turn that was judged, its calls
        self._chain = tuple(chain)
        self._setting = Setting(mode, {tool.name: tool for tool in tools}, matchers, rules)
        self._is_paper = mode == "as_paper"
        self._free = FreeCalls() if self._is_paper else FreeCalls(chain, rules.free)
        self._golden = (
            GoldenList(chain) if self._is_paper else PublishedGoldenList(chain, self._free, rules)
        )
        self._correct = 0
        self._taken = 0
        self._last_errors: tuple[Mistake, ...] = ()
        if not self._chain:
            self._fail(
                Mistake("crash", "", "The sample has no gold call; there is nothing to run over.")
            )

    @property
    def due(self) -> tuple[Call, ...]:
        """The gold calls that are currently due."""
        return tuple(one.call for one in self._golden.due)

    async def take(self, made: Sequence[CandidateCall]) -> tuple[MatchedCall, ...]:
        """Judge the calls of one turn in order; return none if the run ends before judging.

        Raises RecordError after the end.
        """
        self._must_go_on()
        self._taken += 1
        if not made:
            self._fail(Mistake("unknown_error", "", "The model neither called nor answered."))
            return ()
        if not self._is_paper and not self._golden.due:
            self._fail(
                Mistake("func_hallucination", "", "The model went on calling when all was done.")
            )
            return ()
        read = [self._read(one) for one in made]
        unreadable = next((one for one in read if isinstance(one, Mistake)), None)
        if unreadable and not self._is_paper:
            self._fail(unreadable)
            return ()
        calls = [one for one in read if isinstance(one, Call)]
        result = await compare_turn(calls, self._golden.due, self._setting, self._free)
        found = iter(result.calls)
        judged = tuple(
            MatchedCall(None, mistake=one) if isinstance(one, Mistake) else next(found)
            for one in read
        )
        self.turns.append(judged)
        self._note(result)
        return judged

    async def finish(self, text: str | None) -> RunOutcome:
        """End the run with the model's last word; None means that it gave none.

        Raises RecordError after the end.
        """
        self._must_go_on()
        if text is None:
            return self._fail(
                Mistake("unknown_error", "", "The model neither called nor answered.")
            )
        self._golden.forgive()
        if not self._is_paper and self._setting.rules.keeps_last_errors and self._last_errors:
            return self._end(mistakes=self._last_errors)
        if self._golden.is_complete():
            return self._end()
        return self._fall_short(
            Mistake("stop_early", "", "The model answered before everything needed was called.")
        )

    def _must_go_on(self) -> None:
        if self.outcome is not None:
            problem = "The run has ended; look at its outcome before the model is asked again."
            raise RecordError(problem)

    def _read(self, made: CandidateCall) -> Call | Mistake:
        tools, rules = self._setting.tools, self._setting.rules
        call = read_call(made, tools)
        if isinstance(call, str):
            return Mistake("decode_error", "", call)
        if call.tool not in tools and not self._is_paper and rules.ends_at_unknown_names:
            return Mistake("decode_error", "", f"There is no function {call.tool!r}.")
        return call

    def _note(self, result: TurnResult) -> None:
        """Apply a turn's effect: on what is due, on the counts, and on whether the run goes on."""
        matched_count = len(result.matched)
        has_format_error = any(
            one.mistake is not None and one.mistake.is_format_error for one in result.calls
        )
        self._last_errors = result.errors
        if result.crash:
            self._fail(Mistake("crash", "", result.crash))
        elif not self._is_paper and not matched_count and not has_format_error:
            self._end(mistakes=result.errors)
        else:
            self._correct += matched_count
            self._golden.update(result)
            if self._taken >= self._setting.rules.turn_limit:
                reason = f"The model was still calling after {self._taken} turns."
                self._fall_short(Mistake("turn_limit", "", reason))

    def _fall_short(self, otherwise: Mistake) -> RunOutcome:
        """End incomplete: for the mistakes never corrected, or else for `otherwise`."""
        functions = {call.tool for step in self._chain for call in step.calls}
        mistakes = unresolved(self.turns, self._golden.due, functions) if self._is_paper else ()
        return self._end(mistakes=mistakes) if mistakes else self._fail(otherwise)

    def _fail(self, problem: Mistake) -> RunOutcome:
        return self._end(problem=problem)

    def _end(self, problem: Mistake | None = None, mistakes: Sequence[Mistake] = ()) -> RunOutcome:
        due = self._golden.due
        self.outcome = RunOutcome(
            problem=problem,
            mistakes=tuple(mistakes),
            success_turns=min((one.step for one in due), default=len(self._chain)),
            total_turns=len(self._chain),
            correct_calls=self._correct,
            total_calls=sum(len(step.calls) for step in self._chain),
            real_turns=len(self.turns),
            last_step=self._golden.turn,
            remaining=tuple(one.call for one in due),
        )
        return self.outcome


def unresolved(
    turns: Sequence[Sequence[MatchedCall]], due: Sequence[GoldenCall], functions: Collection[str]
) -> tuple[Mistake, ...]:
    """Return the mistakes never corrected, in order; `due` is what was left at the end.

    A mistake compared with a gold call is corrected when that call is found; a mistake without
    one, when a later turn finds something and no call of its function is left. A wrong function
    stays wrong while a call that was due at the time is left. A call of none of the path's
    `functions` is a wrong function, whatever its form.
    """
    if not due:
        return ()
    last_found = max(
        (at for at, calls in enumerate(turns) if any(one.matched for one in calls)), default=-1
    )
    left: list[Mistake] = []
    for at, judged_call in ((at, one) for at, calls in enumerate(turns) for one in calls):
        mistake = judged_call.mistake
        if mistake is None:
            continue
        if (
            judged_call.call
            and judged_call.call.tool not in functions
            and mistake.error_type != "func_error"
        ):
            mistake = Mistake(
                "func_error", "", f"{judged_call.call.tool!r} is not needed here. {mistake.reason}"
            )
        if (at >= last_found and judged_call.golden is None) or _is_open(
            judged_call, mistake, at, due
        ):
            left.append(mistake)
    return tuple(left)


def _is_open(judged: MatchedCall, mistake: Mistake, at: int, due: Sequence[GoldenCall]) -> bool:
    if judged.golden is not None:
        return (judged.golden.step, judged.golden.place) in {(one.step, one.place) for one in due}
    if mistake.error_type == "func_error" and any(one.step <= at for one in due):
        return True
    return judged.call is not None and judged.call.tool in {one.call.tool for one in due}


def _stated(mistake: Mistake) -> JsonValue:
    stated: dict[str, JsonValue] = {"error_type": mistake.kind, "content": mistake.reason}
    return stated | {"parameter": mistake.parameter} if mistake.parameter else stated


class GoldenList:
    """The calls currently due, by Algorithm 1 (ComplexFuncBench B.2): each turn adds a step.

    `turn` was added last.
    """

    def __init__(self, chain: Sequence[Exchange]) -> None:
        self._steps = [golden_calls(step, number) for number, step in enumerate(chain)]
        self.due = list(self._steps[0]) if self._steps else []
        self.turn = 0

    def update(self, result: TurnResult) -> None:
        """Remove the calls that were found, and add the next step in any case."""
        found = {(one.step, one.place) for one in result.matched}
        self.due = [one for one in self.due if (one.step, one.place) not in found]
        if self.turn < len(self._steps) - 1:
            self.turn += 1
            self.due += self._steps[self.turn]

    def forgive(self) -> None:
        """Drop calls that are optional once the model has said its last word: none here."""

    def is_complete(self) -> bool:
        """Whether every step was added and all its calls were found."""
        return not self.due and self.turn >= len(self._steps) - 1


class PublishedGoldenList(GoldenList):
    """The published code's list: a success, or a step of only free calls, adds a step."""

    def __init__(self, chain: Sequence[Exchange], free: FreeCalls, rules: RunRules) -> None:
        super().__init__(chain)
        self._free, self._rules = free, rules
        if self._is_only_free():
            self._add_next()

    def update(self, result: TurnResult) -> None:
        """Remove calls found or made free; a success or a list of only free calls adds a step."""
        self.due = [one._replace(call=sorted_call(one.call)) for one in self.due]
        matched_calls = [
            one.golden for one in result.calls if one.matched and one.golden is not None
        ]
        for golden in matched_calls:
            equal = next((one for one in self.due if is_same_call(one.call, golden.call)), None)
            if equal is not None:
                self.due.remove(equal)
        if matched_calls:
            self._add_next()
        self.due = [one for one in self.due if not self._free.is_made(one.call)]
        if self._is_only_free():
            self._add_next()

    def forgive(self) -> None:
        """Drop leftovers while iterating over them, as the published code does.

        This skips the one after each that is dropped.
        """
        at = 0
        while at < len(self.due):
            call = self.due[at].call
            if call.tool in self._rules.dropped or self._is_exempt(self.due[at]):
                del self.due[at]
            at += 1

    def is_complete(self) -> bool:
        """Whether enough turns succeeded and nothing is left."""
        return not self.due and self.turn >= len(self._steps)

    def _add_next(self) -> None:
        self.turn += 1
        if self.turn < len(self._steps):
            self.due += self._steps[self.turn]

    def _is_only_free(self) -> bool:
        if any(self._is_exempt(one) for one in self.due):
            return True
        return all(one.call.tool in self._rules.free for one in self.due)

    def _is_exempt(self, golden: GoldenCall) -> bool:
        tool, argument, value = self._rules.exempt
        return golden.call.tool == tool and golden.call.arguments.get(argument) == value
