"""What went wrong in a run, counted: its calls' mistakes, and the types of the parameters they were about."""

from collections import Counter
from collections.abc import Iterator, Sequence

from validators.metrics.complexeval.matching import wrong_arguments
from validators.metrics.complexeval.turns import JudgedCall
from validators.metrics.parameter_types import parameter_type
from warehouse.records import CallError, Exchange, ParameterCount

Judged = Sequence[Sequence[JudgedCall]]
_Argument = tuple[int, int, str]  # the step and the place of a gold call, and the argument's name


def call_errors(run: str, judged: Judged) -> list[CallError]:
    """A row for each call of a run, named by its key, with which something was wrong."""
    return [
        CallError(
            run=run,
            turn=turn,
            call=place,
            tool=one.call.tool if one.call else "",
            error_type=one.mistake.error_type,
            parameter=one.mistake.parameter,
            parameter_type=parameter_type(one.mistake.parameter) if one.mistake.parameter else "",
            reason=one.mistake.reason,
        )
        for turn, calls in enumerate(judged)
        for place, one in enumerate(calls)
        if one.mistake is not None
    ]


def parameter_counts(run: str, chain: Sequence[Exchange], judged: Judged) -> list[ParameterCount]:
    """How many arguments of each type the gold calls have, and how many of them the candidate got wrong at least once.

    A call of another function says nothing about arguments.
    """
    wrong = {argument for calls in judged for one in calls for argument in _wrong_in(one, chain)}
    due = Counter(parameter_type(name) for _, _, name in _arguments(chain))
    missed = Counter(parameter_type(name) for _, _, name in wrong)
    return [ParameterCount(run=run, parameter_type=kind, due=due[kind], wrong=missed[kind]) for kind in sorted(due)]


def _arguments(chain: Sequence[Exchange]) -> Iterator[_Argument]:
    for step, exchange in enumerate(chain):
        for place, call in enumerate(exchange.calls):
            yield from ((step, place, name) for name in call.arguments)


def _wrong_in(judged: JudgedCall, chain: Sequence[Exchange]) -> list[_Argument]:
    call, mistake, golden = judged.call, judged.mistake, judged.golden
    if call is None or mistake is None:
        return []
    if golden is not None:
        names = wrong_arguments(call, golden.call) if call.tool == golden.call.tool else ()
        return [(golden.step, golden.place, name) for name in names]
    # The format check comes before the mapping: the first gold call of that function is the one that was tried.
    tried = (one for one in _arguments(chain) if chain[one[0]].calls[one[1]].tool == call.tool)
    return [one for one in tried if one[2] == mistake.parameter][:1]
