"""template/v1: a seeded model without weights that writes and reads calls by sentences in data."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import ToolView, view_of
from callwright.language.packs import fallback, known, language_of, of
from callwright.language.values import locate
from callwright.llm.chat import ChatMessage, ChatRequest, RawReply
from callwright.llm.template.candidate import as_native_calls, candidate_reply, dumped, with_tools
from callwright.llm.template.changing import (
    CallChange,
    ViewedCall,
    mend_request,
    other_value,
    word_change,
)
from callwright.llm.template.conversing import (
    label_acts,
    read_scenario,
    word_agent_turn,
    word_fault,
    word_policy,
    word_scenario,
    word_user_turn,
)
from callwright.llm.template.defects import (
    MALFORMED_JSON,
    REFUSAL,
    Proposal,
    apology,
    break_json,
    draw_defect,
    error_rates,
    spoil_answer,
    spoil_calls,
)
from callwright.llm.template.drafting_tools import (
    describe,
    name_all,
    parameter_sketches,
    result_sketches,
)
from callwright.llm.template.goal_wording import leave_open, word_goal
from callwright.llm.template.judging import (
    grade_plan,
    judge,
    name_made_up,
    name_relevant,
    score_answer,
    score_reply,
    settle,
)
from callwright.llm.template.messages import (
    judge_message,
    name_entities,
    reword_request,
    simulate_message,
    word_pronoun,
)
from callwright.llm.template.next_steps import due_steps, next_calls
from callwright.llm.template.questions import in_slots, word_answer, word_question
from callwright.llm.template.reading import name_tools, read_call, read_due, read_plan
from callwright.llm.template.sections import Sections, read_sections
from callwright.llm.template.sentences import own_sentences
from callwright.llm.template.slots import word_slotted
from callwright.llm.template.values import choose_names, draw_values
from callwright.llm.tool_sentences import SentenceFile
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Language

NAME = "template/v1"
_CHARACTERS_PER_TOKEN = 4
_NONE: Mapping[str, float] = {}


class TemplateModel:
    """An Adapter that answers from tables: seeded, deterministic, instant, wrong only as told."""

    def __init__(
        self,
        *,
        seed: int = 0,
        error_rate: Mapping[str, float] = _NONE,
        sentences: tuple[SentenceFile, ...] = (),
    ) -> None:
        """Make the defects of `error_rate`, the share of replies for each of DEFECTS.

        Raises ConfigurationError if it is no such table. `sentences` are those that a recipe
        brings for its own tools.
        """
        self._seed = seed
        self._rates = error_rates(error_rate)
        self._sentences = sentences

    async def send(self, request: ChatRequest) -> RawReply:
        """Answer by the task in the schema's title; ReplyError if title or prompt is unknown."""
        with own_sentences(self._sentences):
            return self._answer(request)

    def _answer(self, request: ChatRequest) -> RawReply:
        marks = ChatMessage(role="system", content=request.marks)
        # a chat is no prompt: whatever it says, the marks alone tell what is wanted
        is_chat = bool(request.tools and request.marks)
        sections = read_sections((marks,) if is_chat else (marks, *request.messages))
        rng = _rng_for(self._seed, request, sections, "answer")
        flaws = _rng_for(self._seed, request, sections, "defect")
        defect = draw_defect(self._rates, flaws)
        if request.schema is None:
            sections = with_tools(sections, request.tools)
            text, planted = candidate_reply(request.messages, sections, (rng, flaws), defect)
            calls = as_native_calls(text) if request.tools else None
            return _replied(request, "" if calls else text, planted)._replace(calls=calls)
        title = str(request.schema.get("title", ""))
        if title not in _TASKS and title not in _PLANTING_TASKS:
            raise ReplyError(
                f"template/v1 has no answer of the kind {title!r}; it can answer"
                f" {', '.join((*_PLANTING_TASKS, *_TASKS))}, and free text as a candidate where the"
                " prompt shows <tools>. Use another model for this stage."
            )
        if defect == REFUSAL:
            return _replied(request, apology(flaws), REFUSAL)
        task = _Given(sections, rng, flaws, defect)
        answer, planted = (
            _PLANTING_TASKS[title](task) if title in _PLANTING_TASKS else (_TASKS[title](task), "")
        )
        text = dumped(answer)
        if defect == MALFORMED_JSON:
            return _replied(request, break_json(text, flaws), MALFORMED_JSON)
        return _replied(request, text, planted)

    async def close(self) -> None:
        """Do nothing; there is nothing to close."""


def _rng_for(seed: int, request: ChatRequest, sections: Sections, purpose: str) -> Random:
    """Return a generator for this model seed, task, data, sample index and purpose.

    The instructions of a prompt and the rest of its schema do not affect it: editing them keeps
    the same draws.
    """
    title = "" if request.schema is None else str(request.schema.get("title", ""))
    digest = blake2b(f"{seed}|{purpose}|{request.sample_index}|{title}".encode(), digest_size=8)
    data = [f"{tag}\x01{value}" for tag, value in sorted(sections.tagged.items())]
    # behind the prompt stand replies, and why they were refused
    later = [message.content for message in request.messages if message.role != "system"][1:]
    for part in (*data, sections.conversation or "", *later):
        digest.update(b"\x00")
        digest.update(part.encode("utf-8", "surrogatepass"))
    return Random(int.from_bytes(digest.digest(), "big"))


def _replied(request: ChatRequest, text: str, planted: str) -> RawReply:
    asked = sum(len(message.content) // _CHARACTERS_PER_TOKEN + 1 for message in request.messages)
    return RawReply(text, None, asked, len(text) // _CHARACTERS_PER_TOKEN + 1, 0.0, planted)


class _Given(NamedTuple):
    """What a task answers from: the prompt, and random generators for the answer and its flaws."""

    sections: Sections
    rng: Random
    flaws: Random
    defect: str

    @property
    def language(self) -> Language:
        code = self.sections.word("language", fallback())
        if code not in known():
            raise ReplyError(
                f"template/v1 writes {', '.join(of(one).name for one in known())}, not {code!r}."
            )
        return code

    @property
    def view(self) -> ToolView:
        return view_of(self.sections.json("tool"))

    @property
    def known_values(self) -> Arguments:
        return self.sections.object("known") if "known" in self.sections.tagged else {}


def _name_parameters(given: _Given) -> JsonValue:
    view = given.view
    offered, count = given.sections.listed("offered"), int(given.sections.word("count", "1"))
    return {"parameters": [*choose_names([str(name) for name in offered], count, view, given.rng)]}


def _draw_values(given: _Given) -> Arguments:
    """Return values for the parameters that the prompt names, and at most one optional one.

    They fit the known values. Raises ReplyError if <known> has other parameters.
    """
    view, rng = given.view, given.rng
    names = _named_parameters("parameters", given.sections, view)
    may = _named_parameters("may", given.sections, view) if "may" in given.sections.tagged else []
    names += rng.sample(may, min(len(may), rng.randint(0, 1))) if may else []
    fixed_values = given.known_values
    if any(name not in view.properties for name in fixed_values):
        raise ReplyError(
            f"template/v1 expects in <known> an object with parameters of {view.name!r}, not"
            f" {fixed_values!r}."
        )
    return draw_values(view, names, given.language, rng, fixed_values)


def _named_parameters(tag: str, sections: Sections, view: ToolView) -> list[str]:
    names = sections.json(tag)
    if not isinstance(names, list) or any(name not in view.properties for name in names):
        raise ReplyError(
            f"template/v1 expects in <{tag}> a list of parameters of {view.name!r}, not {names!r}."
        )
    return [str(name) for name in names]


def _word_request(given: _Given) -> tuple[JsonValue, str]:
    """Return a wording of calls with slots, and the defect in it."""
    request, planted = word_slotted(
        given.sections, given.language, given.rng, given.defect, given.flaws
    )
    return {"request": request}, planted


def _ask_for_slot(given: _Given) -> JsonValue:
    sections, view = given.sections, given.view
    stated, parameter = sections.object("known"), view.parameter(sections.json("parameter"))
    return {"question": word_question(view, parameter, stated, given.language, given.rng)}


def _answer_for_slot(given: _Given) -> tuple[JsonValue, str]:
    sections, name = given.sections, _slot_name(given.sections.word("detail", ""))
    view = given.view
    slot = (view.parameter(sections.json("parameter")), sections.json("value"))
    is_bare = sections.word("manner", "sentence") == "bare"
    answered = word_answer(view, slot, given.language, given.rng, is_bare=is_bare)
    if given.defect:
        spoilt = spoil_answer(given.defect, view, slot, given.language, given.flaws)
        if spoilt:
            return {"answer": spoilt.text}, given.defect
    return {"answer": answered.in_slot(name)}, ""


def _slot_name(detail: str) -> str:
    """Return the name of the slot that a line of details begins with, without words of its own."""
    return detail.partition("]")[0].partition(":")[0].lstrip("[")


def _propose_call(given: _Given) -> tuple[JsonValue, str]:
    call = read_call(given.sections.views(), given.sections.turns())
    calls, planted = _spoilt([call], given)
    spoilt = calls[0] if calls else Proposal(None, {})
    return {"tool": spoilt.tool, "arguments": spoilt.arguments}, planted


def _spoilt(calls: Sequence[Proposal], given: _Given) -> tuple[Sequence[Proposal], str]:
    language = language_of(given.sections.conversation or "")
    return spoil_calls(given.defect, calls, given.sections.views(), language, given.flaws)


def _change_value(given: _Given) -> JsonValue:
    sections, view = given.sections, given.view
    call = ViewedCall(view, sections.object("arguments"))
    parameter = view.parameter(sections.json("parameter"))
    return {"value": other_value(parameter, call, sections.turns(), given.language, given.rng)}


def _word_correction(given: _Given) -> JsonValue:
    sections, name = given.sections, _slot_name(given.sections.word("detail", ""))
    view = given.view
    change = CallChange(
        view,
        sections.object("arguments"),
        view.parameter(sections.json("parameter")),
        sections.json("new"),
        sections.word("case", ""),
        must_name=bool(sections.word("named", "")),
    )
    return {"sentence": word_change(change, given.language, given.rng).in_slot(name)}


def _word_goal(given: _Given) -> str:
    request, slots = word_goal(given.sections, given.rng), given.sections.listed("slots")
    found = [(one, locate(one["value"], one["schema"], request)) for one in slots]
    return in_slots(
        request, [(one["slot"], request[at.start : at.end]) for one, at in found if at is not None]
    )


def _write_calls(
    read: Callable[[Sections], Sequence[Proposal]], given: _Given
) -> tuple[JsonValue, str]:
    """Return the calls that the model reads, in a reader's format."""
    calls, planted = _spoilt(read(given.sections), given)
    written: list[JsonValue] = [
        {"tool": call.tool, "arguments": call.arguments} for call in calls if call.tool
    ]
    return {"calls": written, "instead": None if written else "none"}, planted


def _read_step(sections: Sections) -> Sequence[Proposal]:
    """Return the next calls of a request in steps.

    For any other request, return the calls that were not made yet and lack nothing.
    """
    steps = due_steps(sections)
    return read_due(sections.views(), sections.turns()) if steps is None else steps


# By the title of an answer's schema: the answer, with the defect that is in it ("" where none is).
_PLANTING_TASKS: Mapping[str, Callable[[_Given], tuple[JsonValue, str]]] = {
    "SlottedRequest": _word_request,
    "SlotAnswer": _answer_for_slot,
    "ProposedCall": _propose_call,
    "NextCalls": lambda given: next_calls(given.sections, given.defect, given.flaws),
    "WrittenCalls": partial(_write_calls, lambda shown: [read_call(shown.views(), shown.turns())]),
    "WrittenPlan": partial(
        _write_calls, lambda shown: read_plan(shown.listed("tools"), shown.turns())
    ),
    "WrittenStep": partial(_write_calls, _read_step),
}
# The answers in which no defect is ever planted.
_TASKS: Mapping[str, Callable[[_Given], JsonValue]] = {
    "ParameterNames": _name_parameters,
    "ArgumentValues": lambda given: {"values": _draw_values(given)},
    "SlotQuestion": _ask_for_slot,
    "NeededTools": lambda given: name_tools(given.sections),
    "Settlement": lambda given: settle(given.sections),
    "Judgement": lambda given: judge(given.sections),
    "AnswerScore": lambda given: score_answer(given.sections),
    "MessageFit": lambda given: judge_message(given.sections, given.language),
    "ReplyScore": lambda given: score_reply(given.sections),
    "PlanGrade": lambda given: grade_plan(given.sections),
    "MadeUp": lambda given: name_made_up(given.sections),
    "Relevance": lambda given: name_relevant(given.sections),
    "Entities": lambda given: name_entities(given.sections),
    "Pronoun": lambda given: word_pronoun(given.sections, given.language, given.rng),
    "SimulatedMessage": lambda given: simulate_message(given.sections, given.language, given.rng),
    "PointedRequest": lambda given: reword_request(given.sections, given.language, given.rng),
    "NewValue": _change_value,
    "Correction": _word_correction,
    "ToolNames": lambda given: {"tools": name_all(given.sections, given.language, given.rng)},
    "ToolDescription": lambda given: {"description": describe(given.sections, given.language)},
    "ToolParameters": lambda given: {
        "parameters": parameter_sketches(given.sections, given.language)
    },
    "ToolReturns": lambda given: {"returns": result_sketches(given.sections, given.language)},
    "MendedRequest": lambda given: mend_request(given.sections, given.language, given.rng),
    "FaultWords": lambda given: word_fault(given.sections, given.language, given.rng),
    "PolicyWords": lambda given: word_policy(given.sections, given.language, given.rng),
    "GoalWording": lambda given: {"request": _word_goal(given)},
    "OpeningWords": lambda given: {"opening": leave_open(given.sections, given.rng)},
    "AnswerWording": lambda given: {"answer": given.sections.json("plain")},
    "UserSentence": lambda given: {"sentence": given.sections.json("plain")},
    "HeardQuestion": lambda _: {"wants": ["aside"]},  # code has read what it names
    "ScenarioGoal": lambda given: word_scenario(given.sections, given.language),
    "UserWords": lambda given: word_user_turn(given.sections, given.language, given.rng),
    "AgentWords": lambda given: word_agent_turn(given.sections, given.language, given.rng),
    "ScenarioReading": lambda given: read_scenario(given.sections),
    "DialogueActs": lambda given: label_acts(given.sections),
}
