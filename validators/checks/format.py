"""Whether a sample is well-formed, decided by code (HammerBench 4.2.1, format verification)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from callwright.generators.kinds import traits_of
from callwright.generators.routing.tool_graph import known_arguments
from callwright.generators.shifts.turns import is_conversation
from callwright.generators.stages import StageContext
from callwright.generators.tools import argument_problems
from callwright.generators.transcripts import user_texts
from callwright.generators.whole_calls import made_problems
from callwright.language.packs import (
    COMMON_SCRIPT,
    has_folder,
    language_of,
    of,
    other_letters,
    writes,
)
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, contradicted, unproved
from callwright.validators.origins import root_of
from callwright.warehouse.counts import count_of
from callwright.warehouse.records import (
    CallTurn,
    DoubtedFact,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Snapshot,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)

_CANDIDATES_AMISS = DoubtedFact(kind="candidates_amiss")
_KIND_AMISS = DoubtedFact(kind="kind_amiss")
_TURNS_AMISS = DoubtedFact(kind="turns_amiss")
_LANGUAGE_AMISS = DoubtedFact(kind="language_amiss")


class SampleWithTools(NamedTuple):
    """A sample with the tools of its candidate and withheld keys; unknown keys are left out.

    The calls of one that `is_made` here are held to what descriptions state in prose as well.
    """

    sample: Sample
    tools: dict[str, Tool]
    withheld: dict[str, Tool]
    is_made: bool = False

    def named(self, name: str) -> Tool | None:
        """Return the candidate of this name, or None."""
        return next((tool for tool in self.tools.values() if tool.name == name), None)


@rule(
    "format",
    "2",
    "Is the sample well-formed and its gold valid by the schema?",
    source="HammerBench 4.2.1",
    doubts={
        "turns_amiss": "The turns do not follow each other as they should.",
        "language_amiss": "The user's words are not in the language of the sample.",
        "empty": "{name} has an empty value.",
        "evidence_amiss": "The words that shall prove {name} do not stand where they should.",
    },
)
def check_format(sample: Sample, context: StageContext) -> Answer:
    """Prove that the sample's parts fit each other and the catalog."""
    shown, withheld = (
        {key: context.tools[key] for key in keys if key in context.tools}
        for keys in (sample.candidates, sample.withheld)
    )
    is_made = not traits_of(sample.kind).is_taken
    return form_of(SampleWithTools(sample, shown, withheld, is_made))


def form_of(subject: SampleWithTools) -> Answer:
    """Return the answer about a sample's form.

    Contradicted if a rule is broken, unproved if one can't be applied.
    """
    sample = subject.sample
    calls = sample.all_calls
    spans, arguments = (
        sum(len(call.evidence) for call in calls),
        sum(len(call.arguments) for call in calls),
    )
    proof = (
        f"{count_of(len(sample.candidates), 'candidate')}, {count_of(len(sample.turns), 'turn')},"
        f" {count_of(len(calls), 'call')} due with {count_of(arguments, 'valid argument')},"
        f" and {count_of(spans, 'quote')} found at the stated places."
    )
    findings = chain(
        _candidates(subject),
        _turn_findings(sample.turns),
        _calls(subject),
        (finding for snapshot in sample.snapshots() for finding in _evidence(snapshot)),
        _language_findings(sample, [*subject.tools.values(), *subject.withheld.values()]),
    )
    return answer_of(findings, proof)


def format_verdict(subject: SampleWithTools) -> Verdict:
    """Return the verdict on a sample's form."""
    return check_format.verdict(subject.sample, form_of(subject))


def _candidates(subject: SampleWithTools) -> Iterator[Finding]:
    sample = subject.sample
    for key in (*sample.candidates, *sample.withheld):
        if key not in subject.tools and key not in subject.withheld:
            yield contradicted(f"The catalog has no tool with the key {key!r}.", _CANDIDATES_AMISS)
    if not sample.candidates:
        yield contradicted("There are no offered tools.", _CANDIDATES_AMISS)
    names = [tool.name for tool in map(subject.tools.get, sample.candidates) if tool is not None]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield contradicted(
            f"The offered tool {name!r} is there {names.count(name)} times.", _CANDIDATES_AMISS
        )
    for tool in subject.withheld.values():
        if tool.name in names:
            fact = DoubtedFact(kind="calls_needlessly", tool=tool.name)
            yield contradicted(f"The withheld tool {tool.name!r} is among the offered tools.", fact)


def _calls(subject: SampleWithTools) -> Iterator[Finding]:
    traits = traits_of(subject.sample.kind)
    snapshots = list(subject.sample.snapshots())
    for index, snapshot in enumerate(snapshots):
        for call in snapshot.calls:
            yield from _call_findings(call, subject, is_last=index == len(snapshots) - 1)
    if not any(snapshot.calls for snapshot in snapshots) and (traits.is_whole or traits.is_partial):
        yield contradicted(
            f"No call is due, but the sample is of the kind {subject.sample.kind!r}.", _KIND_AMISS
        )
    if traits.is_idle and any(snapshot.calls for snapshot in snapshots):
        yield contradicted(
            f"A call is due, but the sample is of the kind {subject.sample.kind!r}.", _KIND_AMISS
        )


def _call_findings(call: GoldCall, subject: SampleWithTools, *, is_last: bool) -> Iterator[Finding]:
    tool = subject.named(call.tool)
    if tool is None:
        fact = DoubtedFact(kind="tool_unknown", tool=call.tool)
        yield contradicted(f"The gold tool {call.tool!r} is not among the offered tools.", fact)
        return
    traits = traits_of(subject.sample.kind)
    # what was made was whole: required parameters bind in paths and conversations at every step
    is_made = is_conversation(subject.sample) or traits.is_executed or traits.is_taken
    partial = not (is_made or (is_last and traits.is_whole))
    known = known_arguments(call)
    unfit = DoubtedFact(kind="call_unfit", tool=call.tool)
    problems_of = made_problems if subject.is_made else argument_problems
    yield from (contradicted(one, unfit) for one in problems_of(tool, known, partial=partial))
    for name, value in call.arguments.items():
        if value is None or value in ("", [], {}):
            fact = DoubtedFact(kind="empty", argument=name)
            yield contradicted(f"The gold value of {name!r} is empty: {value!r}.", fact)
    if not traits.is_partial or not is_last:
        return
    if not tool.required:
        reason = (
            f"{tool.name!r} requires no parameter, so that nothing can be missing from the request."
        )
        yield unproved(reason, _KIND_AMISS)
    elif set(tool.required) <= set(call.arguments):
        reason = (
            f"The request is imperfect, but every required parameter of {tool.name!r} is given."
        )
        yield contradicted(reason, _KIND_AMISS)


def _evidence(snapshot: Snapshot) -> Iterator[Finding]:
    for call, evidence in ((due, one) for due in snapshot.calls for one in due.evidence):
        fact = DoubtedFact(kind="evidence_amiss", argument=evidence.argument)
        if root_of(evidence.argument) not in call.arguments:
            yield contradicted(
                f"There is evidence for {evidence.argument!r}, which is no argument of the call.",
                fact,
            )
        if evidence.turn is None or evidence.start is None or evidence.end is None:
            continue
        text = _text_of(snapshot, evidence.turn, in_message=evidence.in_message)
        if text is None:
            reason = (
                f"The evidence for {evidence.argument!r} points at turn {evidence.turn}: nobody"
                " spoke."
            )
            yield contradicted(reason, fact)
        elif text[evidence.start : evidence.end] != evidence.quote or not evidence.quote:
            yield contradicted(
                f"The evidence for {evidence.argument!r} quotes {evidence.quote!r}, but"
                f" {evidence.start} to {evidence.end} of turn {evidence.turn} is"
                f" {text[evidence.start : evidence.end]!r}.",
                fact,
            )


def _text_of(snapshot: Snapshot, index: int, *, in_message: bool) -> str | None:
    """Return the user's or message's text at a turn before the call, None if there is none."""
    turn = snapshot.prefix[index] if 0 <= index < len(snapshot.prefix) else None
    if turn is None or turn.kind != "user":
        return None
    if in_message:
        return turn.external.text if turn.external is not None else None
    return turn.text


_MAY_FOLLOW = {
    "user": ("calls", "reply"),
    "calls": ("reply",),
    "executed": ("result",),
    "result": ("calls", "reply"),
    "reply": ("user",),
}


def _turn_findings(turns: Sequence[Turn]) -> Iterator[Finding]:
    """Yield what is wrong with the order and the content of the turns."""
    if not turns or turns[0].kind != "user":
        yield contradicted("The conversation does not open with the user.", _TURNS_AMISS)
    if not any(
        isinstance(turn, CallTurn) or (isinstance(turn, ReplyTurn) and turn.acts) for turn in turns
    ):
        yield contradicted("The conversation has no turn with gold.", _TURNS_AMISS)
    for index, (before, after) in enumerate(pairwise(turns), start=1):
        kind = "executed" if isinstance(before, CallTurn) and before.executed else before.kind
        if after.kind not in _MAY_FOLLOW[kind]:
            reason = f"Turn {index} ({after.kind}) can't follow a turn of the kind {kind!r}."
            yield contradicted(reason, _TURNS_AMISS)
        if (
            isinstance(before, CallTurn)
            and isinstance(after, ResultTurn)
            and len(before.calls) != len(after.results)
        ):
            reason = (
                f"Turn {index} has {count_of(len(after.results), 'result')} for"
                f" {count_of(len(before.calls), 'call')}."
            )
            yield contradicted(reason, _TURNS_AMISS)
    for index, turn in enumerate(turns):
        texts = [turn.text] if isinstance(turn, UserTurn | ReplyTurn) else []
        if isinstance(turn, UserTurn) and turn.external:
            texts.append(turn.external.text)
        if any(not text.strip() for text in texts):
            yield contradicted(
                f"The text of turn {index} is blank.", DoubtedFact(kind="blank", turn=index + 1)
            )


_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_.]*[A-Za-z0-9]")
_HUMP = re.compile(r"[a-z][A-Z]")


def _language_findings(sample: Sample, tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield what is wrong with the language of what the user says."""
    user_text = " ".join(turn.text for turn in sample.turns if turn.kind == "user")
    pack = of(sample.language)
    others, latin = other_letters(user_text), len(_LATIN.findall(user_text))
    if not has_folder(sample.language):
        if not writes(sample.language, user_text):
            reason = f"The sample is {pack.name}, but what the user says is in another language."
            yield contradicted(reason, _LANGUAGE_AMISS)
    elif not others and not latin:
        yield unproved(
            "The user says nothing in letters, so the language can't be told.", _LANGUAGE_AMISS
        )
    elif pack.script != COMMON_SCRIPT and not writes(sample.language, user_text):
        yield contradicted(
            f"The sample is {pack.name}, but the user says nothing in {pack.name}.", _LANGUAGE_AMISS
        )
    elif pack.script == COMMON_SCRIPT and others:
        foreign = of(language_of(user_text)).name
        reason = (
            f"The sample is {pack.name}, but {others} characters of what the user says are"
            f" {foreign}."
        )
        yield (
            contradicted(reason, _LANGUAGE_AMISS)
            if others > latin
            else unproved(reason, _LANGUAGE_AMISS)
        )
    yield from _raw_names(sample, tools)


def _raw_names(sample: Sample, tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield names as code has them, of tools and parameters, in the user's words.

    They are a fault if a model wrote the words, and odd if a person did.
    """
    words = _like_code(
        tuple(word for text in user_texts(sample.turns) for word in _IDENTIFIER.findall(text))
    )
    if not words or traits_of(sample.kind).is_taken:  # somebody said them
        return
    due = sample.all_calls
    values = " ".join(str(value) for call in due for value in call.arguments.values())
    names = {name for tool in tools for name in _like_code((tool.name, *tool.properties))}
    for name in sorted(name for name in names & words if name not in values):
        reason = f"The user says {name!r}, a name as code has it."
        fact = DoubtedFact(kind="code_name", quote=name)
        is_by_model = sample.origin is not None and sample.origin.model
        yield contradicted(reason, fact) if is_by_model else unproved(reason, fact)


@lru_cache(8192)
def _like_code(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for name in names if "_" in name or _HUMP.search(name))
