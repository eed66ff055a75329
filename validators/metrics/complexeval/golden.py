"""The list of gold calls that are due: how it begins, what a turn does to it, and what is forgiven at the end."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from pydantic import JsonValue

from callwright.validators.metrics.complexeval.calls import GoldenCall, call_text, golden_calls, is_equal, sorted_call
from callwright.validators.metrics.complexeval.rules import Mistake, RunRules
from callwright.warehouse.records import Call, Exchange

MatchedBy = Literal["", "free", "rule", "response", "judge"]
GENERAL_ERROR: Mapping[str, JsonValue] = {
    "error": "This call did not give what was needed. Look at the function and its arguments again."
}


class MatchedCall(NamedTuple):
    """A call of a turn: how it was matched ("" is not at all), the gold call it was held against, and what is wrong.

    `call` is None where what was given can't be read as a call. What a world answers to it stands alone in `answered`.
    """

    call: Call | None
    matched: MatchedBy = ""
    golden: GoldenCall | None = None
    mistake: Mistake | None = None
    answered: tuple[JsonValue, ...] = ()

    @property
    def observation(self) -> JsonValue:
        """What the model is stated: the recorded response, what is wrong with the form, or that something is wrong."""
        if self.answered:
            return self.answered[0]
        if self.matched and self.golden is not None:
            return self.golden.response
        if self.mistake is not None and (self.mistake.is_format_error or self.mistake.kind == "decode_error"):
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
    """The distinct gold calls of free functions, known by their JSON text as it stands, and which were made so far."""

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


class GoldenList(Protocol):
    """What is due now; `turn` is the step that was added last."""

    due: list[GoldenCall]
    turn: int

    def update(self, result: TurnResult) -> None:
        """Take away what was found, and add the next step."""

    def forgive(self) -> None:
        """Take away what need not be called when the model has said its last word."""

    def is_complete(self) -> bool:
        """Whether everything was called."""


class PaperGolden:
    """Algorithm 1: every turn adds the next step (ComplexFuncBench B.2)."""

    def __init__(self, chain: Sequence[Exchange]) -> None:
        self._steps = [golden_calls(step, number) for number, step in enumerate(chain)]
        self.due = list(self._steps[0]) if self._steps else []
        self.turn = 0

    def update(self, result: TurnResult) -> None:
        """Take away what was found, and add the next step, whatever was found."""
        found = {(one.step, one.place) for one in result.matched}
        self.due = [one for one in self.due if (one.step, one.place) not in found]
        if self.turn < len(self._steps) - 1:
            self.turn += 1
            self.due += self._steps[self.turn]

    def forgive(self) -> None:
        """Nothing is forgiven."""

    def is_complete(self) -> bool:
        """Whether every step was added and all its calls were found."""
        return not self.due and self.turn >= len(self._steps) - 1


class PublishedGolden:
    """The published code's list: a step is added after a success, and after a step of nothing but free calls."""

    def __init__(self, chain: Sequence[Exchange], free: FreeCalls, rules: RunRules) -> None:
        self._steps = [golden_calls(step, number) for number, step in enumerate(chain)]
        self._free = free
        self._rules = rules
        self.due = list(self._steps[0]) if self._steps else []
        self.turn = 0
        if self._is_only_free():
            self._add_next()

    def update(self, result: TurnResult) -> None:
        """Take away what was found or made as a free call; a success adds a step, and so does a list of free calls."""
        self.due = [one._replace(call=sorted_call(one.call)) for one in self.due]
        found = [one.golden for one in result.calls if one.matched and one.golden is not None]
        for golden in found:
            equal = next((one for one in self.due if _is_same(one, golden)), None)
            if equal is not None:
                self.due.remove(equal)
        if found:
            self._add_next()
        self.due = [one for one in self.due if not self._free.is_made(one.call)]
        if self._is_only_free():
            self._add_next()

    def forgive(self) -> None:
        """Drop leftovers while walking over them, which passes over the one after each that is dropped."""
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


def _is_same(one: GoldenCall, other: GoldenCall) -> bool:
    return one.call.tool == other.call.tool and is_equal(one.call.arguments, other.call.arguments)
