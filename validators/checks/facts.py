"""Whether results are the environment's answers, and replies state exactly those results.

Rules read a reply first. A judge who sees the results reads what they leave open, and labels the
reply's acts from the reply alone. Replies follow the language's own shapes: the content of a
result, an error by its message, a question, a refusal, a courtesy. Words that none of these
accounts for leave the sample unproved. What a reply does decides its dialogue acts.
"""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, get_args

from pydantic import JsonValue

from callwright.generators.conversations.making import DialogueActs
from callwright.generators.conversations.moves import facts_of
from callwright.generators.environments.simulated import error_of, simulated_error, simulated_result
from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.answers import answer_sentence, field_words, reported
from callwright.generators.shifts.turns import is_path
from callwright.generators.stages import StageContext
from callwright.generators.tools import told_in_lines
from callwright.generators.transcripts import conversation_text
from callwright.language.calls.tools import view_of
from callwright.language.packs import signs, widened
from callwright.language.pages import as_sentence, shapes_in
from callwright.language.schemas import scalars
from callwright.language.wording import tells_only
from callwright.validators.checks.declaring import reader, rule
from callwright.validators.checks.verdicts import Finding, contradicted, proved, unproved
from callwright.validators.judges import ACTS, REPLY, ReplyScore, ask_opinion
from callwright.validators.reading.points import shortened
from callwright.warehouse.answers import kinds_of, read_answer, untold_fields
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    CallPlace,
    CallTurn,
    DialogueAct,
    DoubtedFact,
    ErrorCode,
    GoldCall,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)

LEAST = 4  # a judge's score below it is a doubt
_LONGEST_LIST = 3  # entries that a simulated result has at most
_QUESTION = tuple(signs("?"))
_MARKS = signs(" .,;:!?")
_ONLY_A_QUESTION = re.compile(widened(r"@[^?!.:;\n]+@[?]"))


class CalledResult(NamedTuple):
    """A call that was made, its tool, and what it returned."""

    call: GoldCall
    tool: Tool
    result: JsonValue


class ReplyReading(NamedTuple):
    """What a reply does (None if no rule tells), its unexplained words, and what is missing."""

    acts: frozenset[DialogueAct] | None
    unknown: tuple[str, ...] = ()
    missing: str = ""


def applies_to(sample: Sample) -> bool:
    """Whether the sample holds the results that it was made with.

    A sample made from another one no longer knows the seed of its own.
    """
    return (
        any(isinstance(turn, ResultTurn) for turn in sample.turns)
        and not traits_of(sample.kind).is_changed
    )


@rule(
    "facts",
    "4",
    "Do results come back as recorded?",
    source="CONFETTI 3.1",
    applies=lambda sample: applies_to(sample) and not traits_of(sample.kind).is_taken,
    proof="Results come back as recorded.",
    doubts={"not_replayed": "The results could not be had again for comparison."},
)
def check_facts(sample: Sample, context: StageContext) -> Iterator[Finding]:
    """Replay the calls of a conversation: simulated results depend only on the call and a seed."""
    if is_path(sample):  # the check of paths asks other environments
        return
    tools, seed = tools_of(sample, context), sample.simulation_seed
    if seed is None:
        reason = (
            "Nobody knows by which seed the results were simulated, so they can't be had again."
        )
        yield unproved(reason, DoubtedFact(kind="not_replayed"))
        return
    for turn, called in results_in(sample, tools):
        if not _is_answer(called, seed):
            fact = DoubtedFact(kind="result_amiss", turn=turn, tool=called.call.tool)
            yield contradicted(
                f"The result of {called.call.tool} at turn {turn} is not what the call returns.",
                fact,
            )


@rule(
    "replies",
    "2",
    "Do replies state the results and nothing else, with the acts they are labelled by?",
    source="CONFETTI 3.1",
    applies=applies_to,
    settles=("replies",),
    left_to="readers",
    doubts={
        "reply_unfounded": "The assistant says “{words}”, which nothing shows.",
        "reply_lacks": "The reply{where} does not tell all that came back.",
        "acts_differ": "The reply is labelled {value}, but seems to be {other}.",
        "acts_open": "No rule tells whether the reply is {value}.",
    },
)
def check_replies(sample: Sample, context: StageContext) -> list[Finding]:
    """Hold each reply against the results before it, by rules."""
    findings = [
        one for _, of_reply in _replies(sample, tools_of(sample, context)) for one in of_reply
    ]
    return findings or [proved("Replies state the results, and nothing else.")]


@reader(
    "faithfulness",
    "2",
    "Does the judge find the replies true to the results, and read the acts they are labelled by?",
    source="CONFETTI 3.1",
    role="judge",
    prompts=(REPLY, ACTS),
    applies=applies_to,
    settles=("replies",),
    only_rest=True,
    doubts={"judged_reply": "A model finds the reply untrue to the results: {said}"},
)
async def check_faithfulness(sample: Sample, context: StageContext) -> list[Finding]:
    """Let the judge read replies that rules leave open, with the results, and label their acts."""
    findings: list[Finding] = []
    for at, of_reply in _replies(sample, tools_of(sample, context)):
        if of_reply and not findings:
            try:
                findings += [found async for found in _judged(sample, at, context)]
            except ReplyError as error:
                reason = f"The judge gave no answer about turn {at} that can be read: {error}"
                findings.append(unproved(reason, DoubtedFact(kind="unread", turn=at)))
    return findings or [
        proved("The judge finds the replies true to the results, and labels them the same.")
    ]


def tells_results(sample: Sample) -> bool:
    """Whether the sample ends with a reply after results that were asked for."""
    is_due = sample.facts.asked or (sample.facts.wanted and not sample.changes)
    return bool(is_due) and isinstance(next(reversed(sample.turns), None), ReplyTurn)


@rule(
    "answers_request",
    "2",
    "Does the answer tell what was asked for?",
    source="ComplexFuncBench 3.3",
    applies=tells_results,
    settles=("replies",),
    left_to="readers",
    doubts={
        "answer_lacks": "The user asks for {name}, and the answer does not tell it.",
        "answer_false": "The answer says what is not so: {other}.",
        "not_asked": "The sample does not name what the user wants to be told.",
    },
)
def check_answers(sample: Sample, context: StageContext) -> list[Finding]:
    """Look for the value of each field asked for; where none is named, a reader is asked.

    The answer of a task is read as its reward reads it: it must say nothing else in their place.
    """
    at = len(sample.turns) - 1
    if not sample.facts.asked:
        return [
            unproved(
                "The sample names no field that is asked for.",
                DoubtedFact(kind="not_asked", turn=at),
            )
        ]
    findings: list[Finding] = []
    for field in untold_fields(sample):
        name = field_words(field.path) or field.path
        fact = DoubtedFact(kind="answer_lacks", turn=at, argument=name)
        reason = f"The answer does not tell {name!r} ({field.path}) of all that the call returned."
        findings.append(contradicted(reason, fact))
    reply = sample.turns[at]
    if sample.changes and not findings and isinstance(reply, ReplyTurn):
        kinds = kinds_of(context.toolset(sample.candidates))
        for other in read_answer(sample, reply.text, kinds=kinds).false_told:
            fact = DoubtedFact(kind="answer_false", turn=at, other=other)
            findings.append(contradicted(f"The answer says what is not so: {other}.", fact))
    return findings or [proved("The answer tells every field that the goal names.")]


async def _judged(sample: Sample, at: int, context: StageContext) -> AsyncIterator[Finding]:
    reply = sample.turns[at]
    if not isinstance(reply, ReplyTurn):
        return
    opinion = await ask_opinion(
        context.chat,
        REPLY,
        ReplyScore,
        sample.time_sentence,
        language=sample.language,
        tools=told_in_lines(context.toolset(sample.candidates)),
        conversation=conversation_text(map(shortened, sample.turns[:at])),
        reply=reply.text,
    )
    if opinion.score < LEAST:
        fact = DoubtedFact(kind="judged_reply", turn=at, other=opinion.reason)
        yield unproved(
            f"The judge gives the reply at turn {at} {opinion.score} of 5: {opinion.reason}", fact
        )
        return
    if traits_of(sample.kind).has_acts:
        acts = set((await ask_opinion(context.chat, ACTS, DialogueActs, reply=reply.text)).acts)
        if acts != set(reply.acts):
            read, labels = " and ".join(sorted(acts)), ", ".join(reply.acts) or "nothing"
            fact = DoubtedFact(
                kind="acts_differ", turn=at, value=list(reply.acts), other=sorted(acts)
            )
            yield unproved(
                f"The judge reads the reply at turn {at} as {read}, and it is labelled {labels}.",
                fact,
            )


def tools_of(sample: Sample, context: StageContext) -> dict[str, Tool]:
    """Return the offered and withheld tools of a sample by name."""
    return {tool.name: tool for tool in context.toolset((*sample.candidates, *sample.withheld))}


def results_in(sample: Sample, tools: Mapping[str, Tool]) -> Iterator[tuple[int, CalledResult]]:
    """Yield each executed call of a known tool with its result, by the turn of the result."""
    for at, (turn, following) in enumerate(pairwise(sample.turns), start=1):
        if isinstance(turn, CallTurn) and isinstance(following, ResultTurn):
            for call, result in zip(turn.calls, following.results, strict=False):
                if call.tool in tools:
                    yield at, CalledResult(call, tools[call.tool], result)


def _is_answer(made: CalledResult, seed: int) -> bool:
    arguments = made.call.arguments
    if error_of(made.result):
        culprits = [*({name: value} for name, value in arguments.items()), arguments]
        codes: tuple[ErrorCode, ...] = get_args(ErrorCode)
        return any(
            made.result == simulated_error(made.tool, given, code)
            for given in culprits
            for code in codes
        )
    try:
        lengths = range(_LONGEST_LIST + 1)
        return any(
            made.result == simulated_result(made.tool, arguments, seed, entries=count)
            for count in lengths
        )
    except (ReplyError, TypeError, ValueError):  # arguments that no schema allows
        return False


def _replies(sample: Sample, tools: Mapping[str, Tool]) -> Iterator[tuple[int, list[Finding]]]:
    """Yield each reply by its turn, with what speaks against it."""
    results = dict[int, list[CalledResult]]()
    for at, made in results_in(sample, tools):
        results.setdefault(at, []).append(made)
    returned: list[CalledResult] = []
    for index, turn in enumerate(sample.turns):
        returned += results.get(index, [])
        if isinstance(turn, UserTurn):
            returned = []
        elif isinstance(turn, ReplyTurn):
            if not is_path(sample):
                reading = _read_reply(turn, returned, sample, tools)
            elif index < len(sample.turns) - 1:
                # what is asked on the way of a path states nothing where it is nothing but a
                # question
                unknown = () if _ONLY_A_QUESTION.fullmatch(turn.text.strip()) else (turn.text,)
                reading = ReplyReading(frozenset({"seek"}), unknown)
            else:
                reading = _read_path_answer(turn, sample)
            yield (
                index,
                [*_reply_findings(index, turn, reading, has_acts=traits_of(sample.kind).has_acts)],
            )


def _reply_findings(
    index: int, turn: ReplyTurn, reading: ReplyReading, *, has_acts: bool
) -> Iterator[Finding]:
    if reading.unknown:
        fact = DoubtedFact(kind="reply_unfounded", turn=index, quote=" … ".join(reading.unknown))
        yield unproved(
            f"At turn {index} nothing shows {', '.join(map(repr, reading.unknown))}.", fact
        )
    if reading.missing:
        fact = DoubtedFact(kind="reply_lacks", turn=index)
        yield unproved(f"At turn {index} the reply does not tell {reading.missing}.", fact)
    if not has_acts or reading.unknown:
        return
    if reading.acts is None:
        fact = DoubtedFact(kind="acts_open", turn=index, value=list(turn.acts))
        yield unproved(f"At turn {index} no rule tells what the reply does.", fact)
    elif reading.acts != frozenset(turn.acts):
        stated = " and ".join(sorted(reading.acts))
        yield contradicted(
            f"The reply at turn {index} does {stated}, and is labelled"
            f" {', '.join(turn.acts) or 'nothing'}.",
            DoubtedFact(
                kind="acts_differ", turn=index, value=list(turn.acts), other=sorted(reading.acts)
            ),
        )


def _read_reply(
    turn: ReplyTurn, returned: Sequence[CalledResult], sample: Sample, tools: Mapping[str, Tool]
) -> ReplyReading:
    """Return what a reply does after these results; without any it asks, refuses or is polite."""
    failed = [made for made in returned if error_of(made.result)]
    if failed:
        return _read_error(turn, failed, sample.language)
    if returned:
        return _read_facts(turn, returned, sample.language)
    if turn.text.rstrip().endswith(_QUESTION):
        return ReplyReading(frozenset({"seek"}))
    return _read_refusal(turn, sample, tools)


def _read_error(
    turn: ReplyTurn, failed: Sequence[CalledResult], language: Language
) -> ReplyReading:
    errors = [
        made.result.get("error") if isinstance(made.result, dict) else None for made in failed
    ]
    messages = [
        str(error.get("message", "")) if isinstance(error, dict) else "" for error in errors
    ]
    titles = [
        one.called(language) for made in failed for one in view_of(made.tool.signature).parameters
    ]
    known_sentences = [
        *_said(language, "errors", "error", messages),
        *_said(language, "others", "called", titles),
    ]
    unknown = _left_of(turn.text, known_sentences)
    missing = next(
        (repr(message) for message in messages if message.lower() not in turn.text.lower()), ""
    )
    is_asked = turn.text.rstrip().endswith(_QUESTION)
    acts: frozenset[DialogueAct] = (
        frozenset({"inform", "seek"}) if is_asked else frozenset({"inform"})
    )
    return ReplyReading(acts, unknown, missing)


def _read_facts(
    turn: ReplyTurn, returned: Sequence[CalledResult], language: Language
) -> ReplyReading:
    """Match each fact with its name, so that a value cannot pass for another one.

    The only value of the only result needs no name: a reply tells it whole, with nothing beside it
    but what the call gave.
    """
    if len(returned) == 1 and _tells_only_value(turn.text, returned[0]):
        return ReplyReading(frozenset({"inform"}))
    facts = [_fact_sentences(made, language) for made in returned]
    stated = [sentence for sentences in facts for sentence in sentences]
    unknown = _left_of(turn.text, [*stated, *shapes_in(language, "conversations.done")])
    lower = turn.text.lower()
    due = [made for made in returned if not _feeds_another(made, returned)]
    pairs = (
        (made, sentences)
        for made, sentences in zip(returned, facts, strict=True)
        if made in due and sentences
    )
    untold = (
        made
        for made, told in pairs
        if not any(one.lower().rstrip(signs(".")) in lower for one in told)
    )
    missing = next((f"what {made.call.tool} returned" for made in untold), "")
    return ReplyReading(frozenset({"inform"}), unknown, missing)


def _tells_only_value(text: str, made: CalledResult) -> bool:
    """Whether a text tells the one text or number that a call returned, and nothing else."""
    match [*scalars(made.result)]:
        case [str() | int() | float() as value] if not isinstance(value, bool):
            labels = [fact.label for fact in facts_of(made.result, made.tool)]
            beside = [*labels, *map(str, scalars(made.call.arguments))]
            is_question = text.rstrip().endswith(_QUESTION)
            return not is_question and tells_only(text, str(value), beside)
        case _:
            return False


def _fact_sentences(made: CalledResult, language: Language) -> list[str]:
    flags = [shapes_in(language, f"conversations.{name}")[0] for name in ("no", "yes")]
    return [
        as_sentence(
            shape,
            {
                "called": fact.label,
                "value": flags[value] if isinstance(value, bool) else str(value),
            },
        )
        for fact in facts_of(made.result, made.tool)
        for shape in shapes_in(language, "conversations.rendered")
        for value in (fact.value,)
    ]


def _said(language: Language, line: str, slot: str, words: Iterable[str]) -> Iterator[str]:
    """Yield each conversation line of a name with each of these words in its slot."""
    shapes = shapes_in(language, f"conversations.{line}")
    yield from (as_sentence(shape, {slot: one}) for shape in shapes for one in words)


def _left_of(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return what is left of a text without the known sentences, compared without case."""
    marks = signs(".")
    for known_sentence in sorted(
        {sentence.rstrip(marks) for sentence in known}, key=len, reverse=True
    ):
        text = re.sub(
            rf"(?<!\w){re.escape(known_sentence)}(?!\w)[{re.escape(marks)}]*",
            "\n",
            text,
            flags=re.IGNORECASE,
        )
    return tuple(filter(None, (one.strip(_MARKS) for one in text.split("\n"))))


def _feeds_another(made: CalledResult, returned: Sequence[CalledResult]) -> bool:
    """Whether a later call takes what this one returned, so that the later one states it."""
    values = [fact.value for fact in facts_of(made.result, made.tool)]
    later = returned[next(at for at, one in enumerate(returned) if one is made) + 1 :]
    return any(value in values for one in later for value in one.call.arguments.values())


def _read_refusal(turn: ReplyTurn, sample: Sample, tools: Mapping[str, Tool]) -> ReplyReading:
    at_hand = {tool.name for tool in tools.values() if tool.key in sample.candidates}
    views = [view_of(tool.signature) for name, tool in tools.items() if name not in at_hand]
    deeds = [view.does(sample.language) for view in views]
    refused = [deed for deed in deeds if deed.lower() in turn.text.lower()]
    if refused and not _left_of(turn.text, _said(sample.language, "refusals", "deed", refused)):
        return ReplyReading(frozenset({"reject"}))
    if turn.text in shapes_in(sample.language, "assistant.refusals"):
        return ReplyReading(frozenset({"reject"}))
    return ReplyReading(
        frozenset({"other"}), _left_of(turn.text, shapes_in(sample.language, "conversations.nods"))
    )


def _read_path_answer(turn: ReplyTurn, sample: Sample) -> ReplyReading:
    """Return the reading of a path's answer: a sentence for each call that was asked for.

    Where the sample does not say which were, these are the calls at the ends of the path.
    """
    if not sample.facts.wanted:
        ends = tuple(_ends(sample))
        sample = sample.with_changes(facts=sample.facts.with_changes(wanted=ends))
    asked = reported(sample)
    sentences = [answer_sentence(one, sample.language) for one in asked]
    known_sentences = [*sentences, *shapes_in(sample.language, "assistant.found")]
    missing = next(
        (
            f"what {one.tool} returned"
            for one, sentence in zip(asked, sentences, strict=True)
            if sentence not in turn.text
        ),
        "",
    )
    return ReplyReading(None, _left_of(turn.text, known_sentences), missing)


def _ends(sample: Sample) -> Iterator[CallPlace]:
    """Yield the calls from whose results no other call takes anything."""
    taken = [one.path for call in sample.all_calls for one in call.evidence]
    steps = [at for at, turn in enumerate(sample.turns) if isinstance(turn, ResultTurn)]
    for step, at in enumerate(steps):
        results = sample.turns[at]
        for place in range(len(results.results) if isinstance(results, ResultTurn) else 0):
            start = f"turns[{at}].results[{place}]"
            if not any(
                path == start or path.startswith((f"{start}.", f"{start}[")) for path in taken
            ):
                yield CallPlace(step, place)
