"""template/v1: a seeded model without weights, that words calls by grammar and parses requests by inverting it."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import in_context, value_gap
from callwright.language.calls.sampling import fill_in
from callwright.language.calls.tools import ToolView, view_of
from callwright.language.packs import fallback, known, of
from callwright.llm.chat import ChatMessage, ChatRequest, RawReply
from callwright.llm.template.candidate import as_native_calls, candidate_reply, dumped, with_tools
from callwright.llm.template.changing import (
    CallChange,
    ViewedCall,
    mend_request,
    other_value,
    parameter_named,
    word_change,
)
from callwright.llm.template.choosing_options import choose_options
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
    apology,
    break_json,
    error_rates,
    spoil_answer,
    spoil_wording,
)
from callwright.llm.template.drafting_tools import describe, name_all, parameter_sketches, result_sketches
from callwright.llm.template.judging import (
    grade_plan,
    judge,
    name_made_up,
    name_relevant,
    proposed_call,
    score_answer,
    score_reply,
)
from callwright.llm.template.messages import (
    judge_message,
    name_entities,
    reword_request,
    simulate_message,
    word_pronoun,
)
from callwright.llm.template.plain_sentences import choose_plain, is_unknown, plain_values, word_plainly
from callwright.llm.template.questions import word_answer, word_question
from callwright.llm.template.sections import Sections, read_sections
from callwright.llm.template.several_calls import word_parallel, word_routing
from callwright.llm.template.steps_calling import next_calls
from callwright.llm.template.steps_wording import word_goal
from callwright.llm.template.wording import choose_names, refuse_gaps, word_call
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Language

NAME = "template/v1"
_CHARACTERS_PER_TOKEN = 4
_NONE: Mapping[str, float] = {}


class TemplateModel:
    """An Adapter that answers by grammar: seeded, deterministic, instant; it errs only as often as it is instructed to."""

    def __init__(self, *, seed: int = 0, error_rate: Mapping[str, float] = _NONE) -> None:
        """`error_rate` gives the share of replies for each of DEFECTS; ConfigurationError where it is no such table."""
        self._seed = seed
        self._rates = error_rates(error_rate)

    async def send(self, request: ChatRequest) -> RawReply:
        """Answer by the task that the schema's title names; ReplyError where the title or the prompt is unknown."""
        sections = read_sections((ChatMessage(role="system", content=request.marks), *request.messages))
        rng = _rng_for(self._seed, request, sections, "answer")
        flaws = _rng_for(self._seed, request, sections, "defect")
        defect = self._rates.draw(flaws)
        if request.schema is None:
            sections = with_tools(sections, request.tools)
            text, planted = candidate_reply(request.messages, sections, (rng, flaws), defect)
            calls = as_native_calls(text) if request.tools else None
            return _replied(request, "" if calls else text, planted)._replace(calls=calls)
        title = str(request.schema.get("title", ""))
        if title not in _TASKS and title not in _PLANTING_TASKS:
            raise ReplyError(
                f"template/v1 has no grammar for the answer {title!r}; it can answer {', '.join((*_PLANTING_TASKS, *_TASKS))},"
                " and free text as a candidate where the prompt shows <tools>. Use another model for this stage."
            )
        if defect == REFUSAL:
            return _replied(request, apology(flaws), REFUSAL)
        given = _Given(sections, rng, flaws, defect)
        answer, planted = _PLANTING_TASKS[title](given) if title in _PLANTING_TASKS else (_TASKS[title](given), "")
        text = dumped(answer)
        if defect == MALFORMED_JSON:
            return _replied(request, break_json(text, flaws), MALFORMED_JSON)
        return _replied(request, text, planted)

    async def close(self) -> None:
        """Nothing to give back."""


def _rng_for(seed: int, request: ChatRequest, sections: Sections, purpose: str) -> Random:
    """A generator for this model seed, task, data and sample index; apart for each purpose.

    The instructions of a prompt and the rest of its schema are no part of it: whoever edits those gets the same draws.
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
    """What a task answers from: the prompt, and the chances of the answer and of its flaws."""

    sections: Sections
    rng: Random
    flaws: Random
    defect: str

    @property
    def language(self) -> Language:
        code = self.sections.word("language", fallback())
        if code not in known():
            raise ReplyError(f"template/v1 writes {', '.join(of(one).name for one in known())}, not {code!r}.")
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
    choose = choose_plain if is_unknown(view) else choose_names
    return {"parameters": [*choose([str(name) for name in offered], count, view, given.rng)]}


def _draw_values(given: _Given) -> Arguments:
    """A value for each parameter that the prompt names, and for one at most that may be added, beside those known."""
    view, rng = given.view, given.rng
    properties = in_context(view.properties, view.name, view.actions[0])
    names = _named_parameters("parameters", given.sections, view)
    may = _named_parameters("may", given.sections, view) if "may" in given.sections.tagged else []
    names += rng.sample(may, min(len(may), rng.randint(0, 1))) if may else []
    stated = given.known_values
    if any(name not in properties for name in stated):
        raise ReplyError(f"template/v1 expects in <known> an object with parameters of {view.name!r}, not {stated!r}.")
    if is_unknown(view):
        return plain_values(view, names, given.language, rng, stated)
    refuse_gaps(view)
    for name in names:
        if gap := value_gap(name, properties[name], given.language):
            raise ReplyError(f"template/v1 can't fill in {name!r} of the tool {view.name!r}: {gap}.")
    return fill_in(names, properties, given.language, rng, stated)


def _named_parameters(tag: str, sections: Sections, view: ToolView) -> list[str]:
    names = sections.json(tag)
    if not isinstance(names, list) or any(name not in view.properties for name in names):
        raise ReplyError(f"template/v1 expects in <{tag}> a list of parameters of {view.name!r}, not {names!r}.")
    return [str(name) for name in names]


def _draft_request(given: _Given) -> tuple[JsonValue, str]:
    values = _draw_values(given)
    worded, planted = _word_request(given, {**given.known_values, **values})
    return {"values": values, **worded}, planted


def _word_request(given: _Given, arguments: Arguments) -> tuple[dict[str, JsonValue], str]:
    """A wording of the call, and the defect that is in it."""
    view, language = given.view, given.language
    worded = (word_plainly if is_unknown(view) else word_call)(view, arguments, language, given.rng)
    spoilt = spoil_wording(given.defect, view, arguments, language, given.flaws) if given.defect else None
    return (spoilt or worded).reply(), given.defect if spoilt else ""


def _ask_for_slot(given: _Given) -> JsonValue:
    sections, view = given.sections, given.view
    stated, parameter = sections.object("known"), view.parameter(sections.json("parameter"))
    return {"question": word_question(view, parameter, stated, given.language, given.rng)}


def _answer_for_slot(given: _Given) -> tuple[JsonValue, str]:
    sections, view = given.sections, given.view
    slot = (view.parameter(sections.json("parameter")), sections.json("value"))
    is_bare = sections.word("manner", "sentence") == "bare"
    answered = word_answer(view, slot, given.language, given.rng, is_bare=is_bare)
    spoilt = spoil_answer(given.defect, view, slot, given.language, given.flaws) if given.defect else None
    return (spoilt or answered).reply(), given.defect if spoilt else ""


def _propose_call(given: _Given) -> tuple[JsonValue, str]:
    proposal, planted = proposed_call(given.sections, given.flaws, given.defect)
    return {"tool": proposal.tool, "arguments": proposal.arguments}, planted


def _change_value(given: _Given) -> JsonValue:
    sections, view = given.sections, given.view
    call = ViewedCall(view, sections.object("arguments"))
    parameter = parameter_named(view, sections.json("parameter"))
    return {"value": other_value(parameter, call, sections.turns(), given.language, given.rng)}


def _word_correction(given: _Given) -> JsonValue:
    sections, view = given.sections, given.view
    change = CallChange(
        view,
        sections.object("arguments"),
        parameter_named(view, sections.json("parameter")),
        sections.json("new"),
        sections.word("case", ""),
        must_name=sections.json("named") is True,
    )
    return {**word_change(change, given.language, given.rng)._asdict()}


# By the title of an answer's schema: the answer, with the defect that is in it ("" where none is).
_PLANTING_TASKS: Mapping[str, Callable[[_Given], tuple[JsonValue, str]]] = {
    "DraftedRequest": _draft_request,
    "Wording": lambda given: _word_request(given, given.sections.object("arguments")),
    "SlotAnswer": _answer_for_slot,
    "ProposedCall": _propose_call,
    "NextCalls": lambda given: next_calls(given.sections, given.defect, given.flaws),
}
# The answers in which no defect is ever planted.
_TASKS: Mapping[str, Callable[[_Given], JsonValue]] = {
    "ParameterNames": _name_parameters,
    "ArgumentValues": lambda given: {"values": _draw_values(given)},
    "SlotQuestion": _ask_for_slot,
    "PlanValues": lambda _: {"values": []},  # the planner draws as it would itself
    "ParallelWording": lambda given: word_parallel(given.sections, given.language, given.rng),
    "Choice": lambda given: choose_options(given.sections),
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
    "PointedRequest": lambda given: reword_request(given.sections, given.language),
    "NewValue": _change_value,
    "Correction": _word_correction,
    "ToolNames": lambda given: {"tools": name_all(given.sections, given.language, given.rng)},
    "ToolDescription": lambda given: {"description": describe(given.sections, given.language)},
    "ToolParameters": lambda given: {"parameters": parameter_sketches(given.sections, given.language)},
    "ToolReturns": lambda given: {"returns": result_sketches(given.sections, given.language)},
    "MendedRequest": lambda given: mend_request(given.sections, given.language, given.rng),
    "RoutingWording": lambda given: {"request": word_routing(given.sections, given.rng)},
    "FaultWords": lambda given: word_fault(given.sections, given.language, given.rng),
    "PolicyWords": lambda given: word_policy(given.sections, given.language, given.rng),
    "GoalWording": lambda given: {"request": word_goal(given.sections, given.rng)},
    "UserSentence": lambda given: {"sentence": given.sections.json("plain")},
    "HeardQuestion": lambda _: {"wants": ["aside"]},  # code has read what it names
    "ScenarioGoal": lambda given: word_scenario(given.sections, given.language),
    "UserWords": lambda given: word_user_turn(given.sections, given.language, given.rng),
    "AgentWords": lambda given: word_agent_turn(given.sections, given.language, given.rng),
    "ScenarioReading": lambda given: read_scenario(given.sections),
    "DialogueActs": lambda given: label_acts(given.sections),
}
