"""template/v1: a model without weights, for running everything without a key and for measuring checks.

It sees what any model sees, the messages and the schema of the answer, and recognises its task by the schema's title.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from llm.chat import ChatRequest, RawReply
from llm.template.calling import Proposal, name_relevant, propose, shown_views
from llm.template.changing import Change, ViewedCall, other_value, parameter_named, word_change
from llm.template.choosing_parameters import choose_names
from llm.template.defects import MALFORMED_JSON, REFUSAL, apology, break_json, error_rates
from llm.template.drafting_tools import describe, parameter_sketches
from llm.template.external import name_entities, reword_request, simulate_message, word_pronoun
from llm.template.judging import judge
from llm.template.mending import mend_request
from llm.template.naming_tools import name_all
from llm.template.scoring_answers import score_answer
from llm.template.sections import Sections, read_sections
from llm.template.seeding import rng_for
from llm.template.slot_answers import word_answer
from llm.template.slot_questions import word_question
from llm.template.spoiling_answers import spoil_answer
from llm.template.spoiling_calls import spoil_call, text_language
from llm.template.spoiling_wordings import spoil_wording
from llm.template.steps_spoiling import next_calls
from llm.template.steps_wording import word_goal
from llm.template.tool_results import result_sketches
from llm.template.values import fill_in
from llm.template.views import ToolView, view_of
from llm.template.wording import word_call
from warehouse.errors import ReplyError
from warehouse.records import Language

NAME = "template/v1"
NO_TOOL = "Sorry, none of my tools can do this."
_CHARACTERS_PER_TOKEN = 4
_FENCED_SHARE = 0.5
_NONE: Mapping[str, float] = {}


class _Answer(NamedTuple):
    """The value to answer, and the defect that is in it, "" where none is."""

    value: JsonValue
    planted: str = ""


class TemplateModel:
    """An Adapter that answers by grammar: seeded, deterministic, instant; it errs only as often as it is told to."""

    def __init__(self, *, seed: int = 0, error_rate: Mapping[str, float] = _NONE) -> None:
        """`error_rate` gives the share of replies for each of DEFECTS; ConfigurationError where it is no such table."""
        self._seed = seed
        self._rates = error_rates(error_rate)

    async def send(self, request: ChatRequest) -> RawReply:
        """Answer by the task that the schema's title names; ReplyError where the title or the prompt is unknown."""
        sections = read_sections(request.messages)
        rng = rng_for(self._seed, request, "answer")
        flaws = rng_for(self._seed, request, "defect")
        defect = self._rates.draw(flaws)
        if request.schema is None:
            return _replied(request, *_as_candidate(sections, rng, flaws, defect))
        task = _task(str(request.schema.get("title", "")))
        if defect == REFUSAL:
            return _replied(request, apology(flaws), REFUSAL)
        answer = task(sections, rng, flaws, defect)
        text = _dumped(answer.value)
        if defect == MALFORMED_JSON:
            return _replied(request, break_json(text, flaws), MALFORMED_JSON)
        return _replied(request, text, answer.planted)

    async def close(self) -> None:
        """Nothing to give back."""


def _dumped(value: JsonValue) -> str:
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError as error:
        raise ReplyError(f"template/v1 read a value that JSON can't hold: {error}.") from error


def _replied(request: ChatRequest, text: str, planted: str) -> RawReply:
    asked = sum(len(message.content) // _CHARACTERS_PER_TOKEN + 1 for message in request.messages)
    return RawReply(text, None, asked, len(text) // _CHARACTERS_PER_TOKEN + 1, 0.0, planted)


def _task(title: str) -> Callable[[Sections, Random, Random, str], _Answer]:
    if title not in _TASKS:
        known = ", ".join(_TASKS)
        raise ReplyError(
            f"template/v1 has no grammar for the answer {title!r}; it can answer {known}, and free text as a candidate"
            " where the prompt shows <tools>. Use another model for this stage."
        )
    return _TASKS[title]


def _name_parameters(sections: Sections, rng: Random, _: Random, __: str) -> _Answer:
    view = view_of(sections.json("tool"))
    offered, count = sections.json("offered"), sections.json("count")
    if not isinstance(offered, list) or not isinstance(count, int):
        raise ReplyError("template/v1 expects a JSON list in <offered> and a number in <count>.")
    names = choose_names([str(name) for name in offered], count, view.properties, view.required, rng)
    return _Answer({"parameters": list(names)})


def _fill_values(sections: Sections, rng: Random, _: Random, __: str) -> _Answer:
    view = view_of(sections.json("tool"))
    names = sections.json("parameters")
    known = view.properties
    if not isinstance(names, list) or any(name not in known for name in names):
        raise ReplyError(f"template/v1 expects in <parameters> a list of parameters of {view.name!r}, not {names!r}.")
    given = sections.json("known") if "known" in sections.tagged else {}
    if not isinstance(given, dict) or any(name not in known for name in given):
        raise ReplyError(f"template/v1 expects in <known> an object with parameters of {view.name!r}, not {given!r}.")
    values = fill_in([str(name) for name in names], known, _language(sections), rng, given)
    return _Answer({"values": [{"parameter": name, "value": value} for name, value in values.items()]})


def _word_request(sections: Sections, rng: Random, flaws: Random, defect: str) -> _Answer:
    view = view_of(sections.json("tool"))
    arguments = sections.json("arguments")
    if not isinstance(arguments, dict):
        raise ReplyError("template/v1 expects a JSON object in the section <arguments>.")
    language = _language(sections)
    worded = word_call(view, arguments, language, rng)
    spoilt = spoil_wording(defect, view, arguments, language, flaws) if defect else None
    return _Answer((spoilt or worded).reply(), defect if spoilt else "")


def _ask_for_slot(sections: Sections, rng: Random, _: Random, __: str) -> _Answer:
    view, known = view_of(sections.json("tool")), sections.json("known")
    if not isinstance(known, dict):
        raise ReplyError("template/v1 expects a JSON object in the section <known>.")
    question = word_question(view, view.parameter(sections.json("parameter")), known, _language(sections), rng)
    return _Answer({"question": question})


def _answer_for_slot(sections: Sections, rng: Random, flaws: Random, defect: str) -> _Answer:
    view, value = view_of(sections.json("tool")), sections.json("value")
    parameter, language = view.parameter(sections.json("parameter")), _language(sections)
    is_bare = sections.word("manner", "sentence") == "bare"
    answered = word_answer(view, (parameter, value), language, rng, is_bare=is_bare)
    spoilt = spoil_answer(defect, view, (parameter, value), language, flaws) if defect else None
    return _Answer((spoilt or answered).reply(), defect if spoilt else "")


def _propose_call(sections: Sections, _: Random, flaws: Random, defect: str) -> _Answer:
    proposal, planted = _proposal(sections, flaws, defect)
    return _Answer({"tool": proposal.tool, "arguments": proposal.arguments}, planted)


def _proposal(sections: Sections, flaws: Random, defect: str) -> tuple[Proposal, str]:
    views = shown_views(sections)
    proposal = propose(sections, views)
    spoilt = _spoilt(proposal, views, sections, flaws, defect) if defect else None
    return (spoilt, defect) if spoilt else (proposal, "")


def _spoilt(
    proposal: Proposal, views: list[ToolView], sections: Sections, flaws: Random, defect: str
) -> Proposal | None:
    spoilt = spoil_call(defect, proposal, views, text_language(sections.conversation or ""), flaws)
    return None if spoilt == proposal else spoilt


def _judge_calls(sections: Sections, _: Random, __: Random, ___: str) -> _Answer:
    return _Answer(judge(sections, shown_views(sections)))


def _judge_relevance(sections: Sections, _: Random, __: Random, ___: str) -> _Answer:
    return _Answer(name_relevant(sections, shown_views(sections)))


def _name_entities(sections: Sections, _: Random, __: Random, ___: str) -> _Answer:
    return _Answer(name_entities(sections))


def _word_pronoun(sections: Sections, rng: Random, _: Random, __: str) -> _Answer:
    return _Answer(word_pronoun(sections, _language(sections), rng))


def _simulate_message(sections: Sections, rng: Random, _: Random, __: str) -> _Answer:
    return _Answer(simulate_message(sections, _language(sections), rng))


def _reword_request(sections: Sections, _: Random, __: Random, ___: str) -> _Answer:
    return _Answer(reword_request(sections, _language(sections)))


def _name_tools(sections: Sections, rng: Random, _: Random, __: str) -> _Answer:
    return _Answer({"tools": name_all(sections, _language(sections), rng)})


def _describe_tool(sections: Sections, _: Random, __: Random, ___: str) -> _Answer:
    return _Answer({"description": describe(sections, _language(sections))})


def _choose_tool_parameters(sections: Sections, _: Random, __: Random, ___: str) -> _Answer:
    return _Answer({"parameters": parameter_sketches(sections, _language(sections))})


def _choose_returns(sections: Sections, _: Random, __: Random, ___: str) -> _Answer:
    return _Answer({"returns": result_sketches(sections, _language(sections))})


def _next_calls(sections: Sections, _: Random, flaws: Random, defect: str) -> _Answer:
    return _Answer(*next_calls(sections, defect, flaws))


def _mend_request(sections: Sections, rng: Random, _: Random, __: str) -> _Answer:
    return _Answer(mend_request(sections, _language(sections), rng))


def _as_candidate(sections: Sections, rng: Random, flaws: Random, defect: str) -> tuple[str, str]:
    """A candidate's reply in free text: the call as JSON, bare or fenced, or the sentence that refuses."""
    if "tools" not in sections.tagged:
        raise ReplyError("template/v1 answers in free text only as a candidate: the prompt must show <tools>.")
    proposal, planted = _proposal(sections, flaws, defect)
    if defect == REFUSAL:
        return apology(flaws), REFUSAL
    if proposal.tool is None:
        return NO_TOOL, planted
    call = _dumped({"name": proposal.tool, "arguments": proposal.arguments})
    if defect == MALFORMED_JSON:
        call, planted = break_json(call, flaws), MALFORMED_JSON
    return (f"```json\n{call}\n```" if rng.random() < _FENCED_SHARE else call), planted


def _change_value(sections: Sections, rng: Random, _: Random, __: str) -> _Answer:
    view = view_of(sections.json("tool"))
    call = ViewedCall(view, _arguments(sections))
    parameter = parameter_named(view, sections.json("parameter"))
    value = other_value(parameter, call, sections.turns(), _language(sections), rng)
    return _Answer({"value": value})


def _word_correction(sections: Sections, rng: Random, _: Random, __: str) -> _Answer:
    view = view_of(sections.json("tool"))
    change = Change(
        view,
        _arguments(sections),
        parameter_named(view, sections.json("parameter")),
        sections.json("new"),
        sections.word("case", ""),
        must_name=sections.json("named") is True,
    )
    worded = word_change(change, sections.turns(), _language(sections), rng)
    return _Answer({"sentence": worded.sentence, "words": worded.words})


def _arguments(sections: Sections) -> dict[str, JsonValue]:
    arguments = sections.json("arguments")
    if not isinstance(arguments, dict):
        raise ReplyError("template/v1 expects a JSON object in the section <arguments>.")
    return arguments


def _language(sections: Sections) -> Language:
    match sections.word("language", "en"):
        case "zh":
            return "zh"
        case "en":
            return "en"
        case other:
            raise ReplyError(f"template/v1 writes English (en) and Chinese (zh), not {other!r}.")


_TASKS: dict[str, Callable[[Sections, Random, Random, str], _Answer]] = {
    "ParameterNames": _name_parameters,
    "ArgumentValues": _fill_values,
    "Wording": _word_request,
    "SlotQuestion": _ask_for_slot,
    "SlotAnswer": _answer_for_slot,
    "ProposedCall": _propose_call,
    "Judgement": _judge_calls,
    "AnswerScore": lambda sections, _, __, ___: _Answer(score_answer(sections)),
    "Relevance": _judge_relevance,
    "Entities": _name_entities,
    "Pronoun": _word_pronoun,
    "SimulatedMessage": _simulate_message,
    "PointedRequest": _reword_request,
    "NewValue": _change_value,
    "Correction": _word_correction,
    "ToolNames": _name_tools,
    "ToolDescription": _describe_tool,
    "ToolParameters": _choose_tool_parameters,
    "ToolReturns": _choose_returns,
    "MendedRequest": _mend_request,
    "GoalWording": lambda sections, rng, _, __: _Answer({"request": word_goal(sections, rng)}),
    "NextCalls": _next_calls,
}
