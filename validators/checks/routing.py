"""Whether a question over a whole catalog has its calls proved, by code alone (CallNavi 3, 4.1).

From the request: each given value is stated, and no unknown one is. From the tools: an earlier
call returns each unknown value, and no other tool of the catalog does what a due one does.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from callwright.generators.kinds import traits_of
from callwright.generators.routing.tool_graph import (
    UNKNOWN,
    feed_problem,
    known_arguments,
    returned_fields,
)
from callwright.generators.stages import StageContext
from callwright.generators.tools import are_redundant
from callwright.language.values import locate
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, contradicted, unproved
from callwright.validators.metrics.callnavi.dataset import find_stated
from callwright.validators.toolset.redundancy import doing_of
from callwright.warehouse.counts import count_of
from callwright.warehouse.records import DoubtedFact, GoldCall, Sample, Tool, UserTurn

_KIND_AMISS = DoubtedFact(kind="kind_amiss")
_LEAST = {"easy": 1, "medium": 2, "hard": 2}
_MOST = {"easy": 1, "medium": 5, "hard": 5}


def _is_routed(sample: Sample) -> bool:
    """Whether the sample's calls are to be chosen from a whole catalog."""
    traits = traits_of(sample.kind)
    return traits.has_catalog and not traits.is_changed


class _Question(NamedTuple):
    """The user's words up to a snapshot with their messages, the due calls, and tools by name."""

    sample: Sample
    stated: str
    calls: tuple[GoldCall, ...]
    tools: dict[str, Tool]


def applies_to(sample: Sample) -> bool:
    """Whether calls are chosen out of a whole catalog, also after a shift or with a message."""
    return traits_of(sample.kind).has_catalog


@rule(
    "routing",
    "2",
    "Do the request and what tools return prove each call, and no other tool of the catalog?",
    source="CallNavi 4.1",
    applies=applies_to,
    left_to="readers",
    doubts={
        "stated_unused": (
            "The user says “{words}”{where}, which seems to be {name}, but the call does not"
            " use it."
        )
    },
)
def check_routing(sample: Sample, context: StageContext) -> Answer:
    """Prove the calls of a question from the request and from what the tools return."""
    return route(sample, context.toolset(sample.candidates), tuple(context.tools.values()))


def route(sample: Sample, candidates: Sequence[Tool], catalog: Sequence[Tool]) -> Answer:
    """Return the answer for a question with these candidates, from a build's whole catalog."""
    tools = {tool.name: tool for tool in candidates}
    beside = [
        tool
        for tool in catalog
        if tool.category == sample.category and tool.language == sample.language
    ]
    findings: list[Finding] = []
    if hidden := [tool.name for tool in beside if tool.key not in sample.candidates]:
        missing = count_of(len(hidden), "tool is", "tools are")
        reason = (
            f"The candidates are not the whole catalog: {missing} left out, such as {hidden[0]!r}."
        )
        findings.append(contradicted(reason, DoubtedFact(kind="candidates_amiss")))
    for snapshot in sample.snapshots():
        if snapshot.calls:
            users = [turn for turn in snapshot.prefix if isinstance(turn, UserTurn)]
            texts = [
                text
                for turn in users
                for text in (turn.text, turn.external.text if turn.external else "")
            ]
            question = _Question(sample, " ".join(texts), snapshot.calls, tools)
            of_calls = [
                finding for call in question.calls for finding in _call_findings(call, question)
            ]
            findings += [*_counts(question), *of_calls, *_order(question), *_other_tools(question)]
    if not sample.all_calls:
        findings.append(contradicted("No call is due.", _KIND_AMISS))
    unknown = sum(value == UNKNOWN for call in sample.gold for value in call.arguments.values())
    due = f"{len(sample.gold)} of {len(candidates)} tools are due, in this order"
    proof = f"{due}; {count_of(unknown, 'value is', 'values are')} returned on the way."
    return answer_of(findings, proof)


def _counts(question: _Question) -> Iterator[Finding]:
    difficulty = question.sample.facts.difficulty
    if difficulty not in _MOST or traits_of(question.sample.kind).difficulty != difficulty:
        yield contradicted(
            f"The difficulty {difficulty!r} is none of the kind {question.sample.kind!r}.",
            _KIND_AMISS,
        )
        return
    if question.calls != next(
        snapshot.calls for snapshot in question.sample.snapshots() if snapshot.calls
    ):
        # a value that is changed later is due in one call alone, however many the question had
        return
    due = len(question.calls)
    if not _LEAST[difficulty] <= due <= _MOST[difficulty]:
        most = _MOST[difficulty]
        reason = (
            f"{count_of(due, 'call is', 'calls are')} due; a question that is {difficulty} has"
            f" {_LEAST[difficulty]} to {most}."
        )
        yield contradicted(reason, _KIND_AMISS)
    nested = any(UNKNOWN in call.arguments.values() for call in question.calls)
    if nested != (difficulty == "hard"):
        reason = f"The question is {difficulty}, but {'a' if nested else 'no'} value is unknown."
        yield contradicted(reason, _KIND_AMISS)
    made = [(call.tool, repr(sorted(known_arguments(call).items()))) for call in question.calls]
    twice = next((name for at, (name, given) in enumerate(made) if (name, given) in made[:at]), "")
    if difficulty != "hard" and twice:
        yield contradicted(
            "The same call is due twice.", DoubtedFact(kind="call_repeated", tool=twice)
        )


def _call_findings(call: GoldCall, question: _Question) -> Iterator[Finding]:
    tool = question.tools.get(call.tool)
    if tool is None:
        fact = DoubtedFact(kind="tool_unknown", tool=call.tool)
        yield contradicted(f"The tool {call.tool!r} is not in the catalog.", fact)
        return
    missing = [name for name in tool.required if name not in call.arguments]
    if missing:
        fact = DoubtedFact(kind="required_missing", tool=call.tool, argument=missing[0])
        yield contradicted(
            f"{call.tool} is called without {missing[0]!r}, which it requires.", fact
        )
    for name, value in call.arguments.items():
        schema = tool.properties.get(name, {})
        if value == UNKNOWN:
            yield from _unknown_findings(name, call, question)
        elif schema.get("default") != value and locate(value, schema, question.stated) is None:
            fact = DoubtedFact(kind="unstated", tool=call.tool, argument=name, value=value)
            yield unproved(f"The request does not say {value!r} for {name!r} of {call.tool}.", fact)


def _order(question: _Question) -> Iterator[Finding]:
    """Yield a finding if independent calls are not in the order in which they are asked for."""
    if not _is_routed(question.sample) or any(
        UNKNOWN in call.arguments.values() for call in question.calls
    ):
        return  # a shift puts the new value behind all else
    spans = [
        {(one.start, one.end) for one in call.evidence if one.start is not None}
        for call in question.calls
    ]
    shared = Counter(span for own in spans for span in own)
    begins = [
        (min(alone)[0] or 0, call.tool)
        for call, own in zip(question.calls, spans, strict=True)
        if (alone := [span for span in own if shared[span] == 1])
    ]
    for (at, tool), (later, later_tool) in pairwise(begins):
        if later < at:
            fact = DoubtedFact(kind="order_amiss", tool=tool)
            yield unproved(
                f"{tool} is made before {later_tool}, but the request speaks of it later.", fact
            )


def _unknown_findings(name: str, call: GoldCall, question: _Question) -> Iterator[Finding]:
    problem = feed_problem(name, call, question.calls, question.tools)
    if problem:
        yield contradicted(
            problem, DoubtedFact(kind="unstated", tool=call.tool, argument=name, value=UNKNOWN)
        )
    schema = question.tools[call.tool].properties.get(name, {})
    known_texts = [str(value) for one in question.calls for value in known_arguments(one).values()]
    pattern = str(schema.get("pattern", "")).removeprefix("^").removesuffix("$")
    if pattern:
        found = re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", question.stated)
        stands = next((words.group() for words in found if words.group() not in known_texts), "")
    else:
        stands = find_stated(name, question.stated, known_texts)
    if stands:
        reason = f"{name!r} of {call.tool} is unknown, though the request says {stands!r} for it."
        yield contradicted(
            reason, DoubtedFact(kind="stated_unused", tool=call.tool, argument=name, quote=stands)
        )


def _other_tools(question: _Question) -> Iterator[Finding]:
    for tool in (
        question.tools[call.tool] for call in question.calls if call.tool in question.tools
    ):
        others = (one for one in question.tools.values() if one.name != tool.name)
        if duplicate := next((one for one in others if does_the_same(tool, one)), None):
            reason = f"{duplicate.name} does what {tool.name} does: {duplicate.description}."
            yield contradicted(
                reason, DoubtedFact(kind="tools_alike", tool=duplicate.name, other=tool.name)
            )


def does_the_same(one: Tool, other: Tool) -> bool:
    """Whether two tools serve the same request, by nearly the same words, or action and input."""
    if are_redundant(one, other):
        return True
    if set(one.required) != set(other.required) or set(returned_fields(one)) != set(
        returned_fields(other)
    ):
        return False
    doing, others = doing_of(one.name, one.description), doing_of(other.name, other.description)
    is_alike = doing.verb == others.verb and set(doing.resource) == set(others.resource)
    return is_alike and bool(doing.kinds & others.kinds)
