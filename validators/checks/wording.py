"""Whether what the user says reads like speech.

It has no markup, no placeholder, no doubled word, nothing cut off, and no words of the tool.
Code alone decides that from the text of the user's turns; what it finds is unproved, for people
to see. The judge scores by anchors how natural a request is and how plausible its values are,
each with a reason. Only models that read language are asked: template/v1 has no opinion of how
people speak.

Also whether a message that came along is the one that the user refers to, by its app and sender;
and whether a simulated user says what it has to say, read by other rules than those that let its
words pass.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Annotated, Any, NamedTuple

import orjson
from pydantic import BaseModel, Field

from callwright.generators.kinds import traits_of
from callwright.generators.stages import StageContext
from callwright.generators.tools import outlined_tools
from callwright.generators.transcripts import conversation_text, shown_call
from callwright.generators.users.user import Said, SimulatedUser, UserAnswer, UserFact, facts_of
from callwright.language.packs import LanguagePattern, has_folder, unspaced
from callwright.llm.stated_schemas import Line
from callwright.validators.checks.declaring import opinion, reader, rule
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, proved, unproved
from callwright.validators.evidence import Scene, find_in_calls
from callwright.validators.judges import MESSAGE, NATURAL, ask_opinion
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    DoubtedFact,
    DoubtKind,
    GoldCall,
    Message,
    ReplyTurn,
    Sample,
    Tool,
    UserTurn,
)
from callwright.warehouse.shown_tools import without_examples

_MARKUP = re.compile(
    r"```|`[^`\n]+`|\*\*[^*\n]+\*\*|^\s{0,3}#{1,6}\s|^\s*[-*]\s+\S.*\n\s*[-*]\s|\[[^\]\n]+\]\(\S+\)|</?[a-z][a-z0-9]*>",
    re.MULTILINE,
)
_PLACEHOLDER = LanguagePattern(
    r"\{\{?\s*\w[\w .,:@'/+-]*\}\}?|<[A-Za-z][\w -]*[_ ][\w"
    r" -]*>|\[(?:your|insert|name|date|city|time|value|placeholder)\b[^\]]*\]"
    r"|\b(?:TODO|TBD|lorem ipsum|undefined|NaN)\b|_{3,}|\bX{3,}\b|@{placeholder}",
    re.RegexFlag(0),
)
_REPEATED_ON_PURPOSE = (  # on purpose, or as digits of a number
    "that|had|very|so|no|bye|ha|really|many|much|wait|now|knock|far|again|more|night|muy|poco|ya|casi|bla"
    "|zero|oh|one|two|three|four|five|six|seven|eight|nine|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|cero"
)
_DOUBLED = re.compile(
    r"\b(?i:(the|an?|to|of|for|in|on|at|is|are|and|or|with|from|my|please|could|would|i)\s+\1)\b"
    rf"|\b(?!(?:{_REPEATED_ON_PURPOSE})\b)([^\W\d_A-Z]{{2,}}) \2\b"
    r"|(?:^|(?<=[.!?] ))([A-Z][a-z]+) \3(?=,? [a-z])"
)
# in scripts without spaces, of two characters
_DOUBLED_UNSPACED = re.compile(rf"([{unspaced()}]{{2}})\1")
_CUT = LanguagePattern(r"(?:@{cut_word}|@[,(\[{list}]|\{)\s*$")


_WORD = re.compile(rf"[^\W\d_{unspaced()}]+(?:['’][^\W\d_]+)?|[{unspaced()}]|\d+")
_IDENTIFIER = re.compile(
    r"(?<![\w/.\-\"“'])(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)(?![\w/.\-\"”'])"
)
_COPIED_WORDS = 12  # words in a row of a tool's description that nobody says by chance


def is_worded(sample: Sample) -> bool:
    """Whether the words were made for the sample; real ones need no proof that people say them."""
    return not traits_of(sample.kind).is_taken


@rule(
    "wording",
    "4",
    "Do the user's words read like speech, without markup, gaps or cuts?",
    source="HammerBench 5",
    applies=is_worded,
    proof="The user's words have no markup, gap or cut.",
    most=None,
    doubts={
        "blank": "The user says nothing{where}.",
        "markup": "“{words}”{where} is markup, which nobody says.",
        "placeholder": "“{words}”{where} looks like a gap that was never filled.",
        "doubled": "“{words}”{where} says a word twice.",
        "cut_off": "The words seem to be cut off at “{words}”{where}.",
        "copied": "“{words}” is copied from the description of the tool.",
        "code_name": "“{words}”{where} is a name out of code, which nobody says.",
    },
)
def check_wording(sample: Sample, context: StageContext) -> Iterator[Finding]:
    """Look for odd words in the user's turns, and for words of the tools that are called."""
    named = {call.tool for call in sample.all_calls}
    # what lacks is the format's matter
    shown = (context.tools[key] for key in sample.candidates if key in context.tools)
    tools = [tool for tool in shown if tool.name in named]
    user_texts = [
        (index, turn.text) for index, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)
    ]
    for index, text in user_texts:
        yield from (
            problem.at(index) for problem in problems_of(text, is_known=has_folder(sample.language))
        )
    for index, text in user_texts:
        yield from (problem.at(index) for tool in tools for problem in words_of_tool(text, tool))


class OddWords(NamedTuple):
    """Odd words in a turn: the end of a sentence about the turn, their kind, and the words."""

    problem: str
    kind: DoubtKind
    quote: str = ""

    def at(self, turn: int) -> Finding:
        """Return it as a finding about a turn."""
        return unproved(
            f"Turn {turn} {self.problem}.",
            DoubtedFact(kind=self.kind, turn=turn + 1, quote=self.quote),
        )


def words_of_tool(text: str, tool: Tool) -> Iterator[OddWords]:
    """Yield what a text takes from a tool: a copied description, or a name as code has it."""
    # the longest run of words that both share
    own, stated = _WORD.findall(text.casefold()), _WORD.findall(tool.description.casefold())
    match = SequenceMatcher(None, own, stated, autojunk=False).find_longest_match()
    copied = own[match.a : match.a + match.size]
    if len(copied) >= _COPIED_WORDS:
        yield OddWords(
            f"copies the description of {tool.name!r}: {' '.join(copied)!r}",
            "copied",
            " ".join(copied),
        )
    names = {tool.name, *tool.name.split("."), *tool.properties}
    found = next((word for word in _IDENTIFIER.findall(text) if word in names), "")
    if found:
        yield OddWords(f"has a name as code has it: {found!r}", "code_name", found)


def problems_of(text: str, *, is_known: bool = True) -> Iterator[OddWords]:
    """Yield what nobody would say in a text; words count only if rules know the language."""
    if not text.strip():
        yield OddWords("says nothing", "blank")
    looked_for: list[tuple[re.Pattern[str], str, DoubtKind]] = [
        (_MARKUP, "has markup", "markup"),
        (_PLACEHOLDER.of(text), "has a placeholder", "placeholder"),
    ]
    if is_known:
        looked_for += [
            (_DOUBLED, "says a word twice", "doubled"),
            (_DOUBLED_UNSPACED, "says a word twice", "doubled"),
            (_CUT.of(text), "seems to be cut off", "cut_off"),
        ]
    for pattern, what, kind in looked_for:
        found = pattern.search(text)
        if found:
            yield OddWords(f"{what}: {found[0].strip()!r}", kind, found[0].strip())


_LEAST = 4  # a score below it is a doubt: of 3, somebody would wonder
_NONSENSE = 1  # this one contradicts the sample
_WHOLE = 6_000  # characters of a tool's parameters: more are shown in a line each


class NaturalReading(BaseModel):
    """How natural a request is and how plausible its values, each from 1 to 5 with its reason.

    `broken` is what the tools' descriptions state and the calls do not keep.
    """

    wording_reason: Line
    wording: Annotated[int, Field(ge=1, le=5)]
    values_reason: Line
    values: Annotated[int, Field(ge=1, le=5)]
    broken: list[Line]


@opinion(
    "natural",
    "3",
    "Would a person say this to this assistant, is each value plausible, and is no description of"
    " the tools broken?",
    source="HammerBench 5",
    prompts=(NATURAL,),
    applies=is_worded,
    doubts={
        "judged_wording": "A model finds the wording odd: {said}",
        "judged_values": "A model finds the values odd: {said}",
        "judged_broken": "A model finds that the call breaks the document: {said}",
    },
)
async def check_natural(sample: Sample, context: StageContext) -> Answer:
    """Ask the judge for the naturalness and plausibility of a request, and what its calls break.

    The lower score decides; what is broken leaves the sample unproved.
    """
    calls = sample.all_calls
    names_by_tool = {
        name: [one for call in calls if call.tool == name for one in call.arguments]
        for name in {one.tool for one in calls}
    }
    tools = [tool for tool in context.toolset(sample.candidates) if tool.name in names_by_tool]
    required = {tool.name: tool.required for tool in tools}
    last = {call.tool: call for call in calls}.values()
    is_partial = any(
        {*required.get(call.tool, ())} - call.arguments.keys() - call.constants.keys()
        for call in last
    )
    reading = await ask_opinion(
        context.chat,
        NATURAL,
        NaturalReading,
        sample.time_sentence,
        tools=outlined_tools(
            (without_examples(tool), _told_whole(tool) or names_by_tool[tool.name])
            for tool in tools
        ),
        calls=[shown_call(call) for call in calls],
        conversation=conversation_text(sample.turns),
        is_partial=is_partial,
    )
    return answer_by(reading)


def _told_whole(tool: Tool) -> Collection[str]:
    """Return all parameters of a tool, none of a large one.

    Rules often stand at the parameters that a call leaves out.
    """
    return tool.properties if len(orjson.dumps(tool.parameters)) <= _WHOLE else ()


def answer_by(reading: NaturalReading) -> Answer:
    """Return the answer for the two scores; the lower one decides."""
    opinions: tuple[tuple[int, DoubtKind, str], ...] = (
        (reading.wording, "judged_wording", reading.wording_reason),
        (reading.values, "judged_values", reading.values_reason),
    )
    lowest = min(reading.wording, reading.values)
    odd = [DoubtedFact(kind=kind, other=why) for score, kind, why in opinions if score < _LEAST]
    broken = [one.strip() for one in reading.broken if one.strip()]
    odd += [DoubtedFact(kind="judged_broken", other=one) for one in broken]
    return Answer(
        decision="contradicted" if lowest == _NONSENSE else "unproved" if odd else "proved",
        doubts=tuple(odd),
        reason=(
            f"Wording {reading.wording} of 5: {reading.wording_reason} "
            f"Values {reading.values} of 5: {reading.values_reason}"
            + (f" Broken: {' '.join(broken)}" if broken else "")
        ),
    )


class MessageFit(BaseModel):
    """Why, and whether a message can be the one that is pointed to."""

    reason: Line
    fits: bool


def points_to_message(sample: Sample) -> bool:
    """Whether the user refers to a message."""
    return any(_pointed(sample))


@reader(
    "message_fit",
    "2",
    "Can the message be the one that the user points to?",
    source="HammerBench 4.2.4",
    role="judge",
    prompts=(MESSAGE,),
    applies=points_to_message,
    settles=("message",),
    doubts={"judged_message": "A model finds that another message is meant: {said}"},
)
async def check_message_fit(sample: Sample, context: StageContext) -> list[Finding]:
    """Let the judge read each message beside the words that point to it."""
    findings: list[Finding] = []
    for turn, message in _pointed(sample):
        shown = conversation_text([turn])
        try:
            opinion = await ask_opinion(
                context.chat, MESSAGE, MessageFit, language=sample.language, conversation=shown
            )
        except ReplyError as error:
            reason = f"The judge gave no answer about the message that can be read: {error}"
            findings.append(unproved(reason, DoubtedFact(kind="unread")))
            continue
        if not opinion.fits:
            reason = (
                f"The judge finds that the message by {message.app} is not meant: {opinion.reason}"
            )
            findings.append(
                unproved(reason, DoubtedFact(kind="judged_message", other=opinion.reason))
            )
    return findings or [proved("The judge finds that the messages can be those meant.")]


def _pointed(sample: Sample) -> Iterator[tuple[UserTurn, Message]]:
    for turn in sample.turns:
        if isinstance(turn, UserTurn) and turn.external is not None:
            yield turn, turn.external


@rule(
    "user",
    "1",
    "Do the user's answers say what they are to say?",
    source="τ-bench",
    applies=lambda sample: traits_of(sample.kind).is_live,
    doubts={
        "user_amiss": "The user's words{where} don't say {name} = {value}, or say something else."
    },
)
def check_user(sample: Sample, context: StageContext) -> Answer:
    """Read each answer of a live conversation anew; the score is the share that is borne out."""
    tools = context.toolset(sample.candidates)
    named, turns = {tool.name: tool for tool in tools}, sample.turns
    findings, wrong = [], set[int]()
    for fact in facts_of(sample, tools):
        words, before = turns[fact.turn], turns[fact.turn - 1]
        if fact.turn == 0 or not isinstance(words, UserTurn):
            continue
        question = before.text if isinstance(before, ReplyTurn) else ""
        said = Said(words.text, UserAnswer("tell", (fact,)), question)
        if is_amiss(fact, said, sample.language, named[fact.tool]):
            wrong.add(fact.turn)
            doubt = DoubtedFact(
                kind="user_amiss", turn=fact.turn, argument=fact.parameter, value=fact.value
            )
            findings.append(
                unproved(
                    f"At turn {fact.turn} {fact.parameter} = {fact.value!r} is not said.", doubt
                )
            )
    answers = sum(isinstance(turn, UserTurn) for turn in turns) - 1
    answer = answer_of(
        findings, f"The user says what it has to say ({answers} of {answers} answers)."
    )
    return replace(answer, score=1 - len(wrong) / max(1, answers))


def user_figures(user: SimulatedUser, tools: Sequence[Tool]) -> dict[str, Any]:
    """Return a conversation's figures by the names of `MultiStepRun`."""
    named = {tool.name: tool for tool in tools}
    amiss = [
        said
        for said in user.turns
        if any(is_amiss(fact, said, user.language, named[fact.tool]) for fact in said.answer.facts)
    ]
    return {
        "opening": user.opening,
        "user_turns": len(user.turns),
        "user_wordings": user.wordings,
        "user_refused": user.refused,
        "user_errors": len(amiss),
    }


def is_amiss(fact: UserFact, said: Said, language: str, tool: Tool) -> bool:
    """Whether a turn does not state a fact that it should, or states another value instead."""
    if not fact.is_said(said.text):
        return True
    if fact.is_name or fact.path != fact.parameter:
        return False
    call = GoldCall(tool=tool.name, arguments={fact.parameter: fact.value})
    asked = (ReplyTurn(text=said.question),) if said.question else ()
    scene = Scene((*asked, UserTurn(text=said.text)), (call,), {tool.name: tool}, language)
    return any(one.standing == "contradicted" for one in find_in_calls(scene))
