"""Which calls a request in steps needs, read by the phrases for its tools, and from which entry of which response each value."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from callwright.generators.transcripts import walk
from callwright.language.steps.due import due_calls, made_name
from callwright.language.steps.phrases import has_phrases
from callwright.language.steps.reading import read_strictly
from callwright.language.steps.sources import ShownTools, called_entries, read_toolbox
from callwright.language.text import fold
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.validators.wishes.accounts import words_left
from callwright.warehouse.records import CallTurn, DoubtedFact, GoldCall, ResultTurn, Sample, Tool


def find_in_path(sample: Sample, tools: Sequence[Tool]) -> list[Finding]:
    """What speaks against the path being the one that the request asks for: step by step, on the responses as recorded."""
    toolbox = read_toolbox([tool.signature for tool in tools])
    if not has_phrases(toolbox):
        reason = "There are no phrases for these tools, so no rule reads what the words ask for."
        return [unproved(reason, DoubtedFact(kind="not_read"))]
    return list(_findings(sample, toolbox))


def _findings(sample: Sample, toolbox: ShownTools) -> Iterator[Finding]:
    nodes, left = read_strictly(sample.request, toolbox)
    made: dict[bytes, JsonValue] = {}
    for step, (calls, results) in enumerate(_steps(sample)):
        due = {made_name(tool, arguments): tool for tool, arguments in due_calls(nodes, made)}
        taken = {made_name(call.tool, call.arguments): call.tool for call in calls}
        for name in due.keys() - taken.keys():
            fact = DoubtedFact(kind="asked_not_made", tool=due[name])
            yield unproved(f"At step {step} the words ask for a call of {due[name]} that is not made.", fact)
        for name in taken.keys() - due.keys():
            fact = DoubtedFact(kind="unasked", tool=taken[name])
            yield unproved(f"At step {step} no words ask for this call of {taken[name]}.", fact)
        made |= {made_name(call.tool, call.arguments): result for call, result in zip(calls, results, strict=False)}
    for tool, _ in due_calls(nodes, made):
        fact = DoubtedFact(kind="asked_not_made", tool=tool)
        yield unproved(f"The words ask for a call of {tool} that is not made.", fact)
    named = {fold(one) for one in _texts(sample)}
    left += [name for name in called_entries(nodes) if fold(name) not in named]
    yield from map(words_left, left)


def _texts(sample: Sample) -> Iterator[str]:
    for _, results in _steps(sample):
        for result in results:
            yield from (held for _, held in walk(result, "") if isinstance(held, str))


def _steps(sample: Sample) -> Iterator[tuple[tuple[GoldCall, ...], tuple[JsonValue, ...]]]:
    for at, turn in enumerate(sample.turns):
        if isinstance(turn, CallTurn):
            after = sample.turns[at + 1] if at + 1 < len(sample.turns) else None
            yield turn.calls, after.results if isinstance(after, ResultTurn) else ()
