"""The tasks of template/v1: for each title of an answer's schema, the grammar that answers it."""

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.meanings import in_context, value_gap
from callwright.language.calls.sampling import fill_in
from callwright.language.calls.tools import ToolView, view_of
from callwright.language.packs import fallback, known, of
from callwright.llm.template.changing import (
    CallChange,
    ViewedCall,
    mend_request,
    other_value,
    parameter_named,
    word_change,
)
from callwright.llm.template.choosing_options import choose_options
from callwright.llm.template.conversing import label_acts, read_scenario, word_agent_turn, word_scenario, word_user_turn
from callwright.llm.template.defects import spoil_answer, spoil_wording
from callwright.llm.template.dialogues import word_answer, word_question
from callwright.llm.template.drafting_tools import describe, name_all, parameter_sketches, result_sketches
from callwright.llm.template.external import (
    judge_message,
    name_entities,
    reword_request,
    simulate_message,
    word_pronoun,
)
from callwright.llm.template.faults import word_fault, word_policy
from callwright.llm.template.judging import (
    grade_plan,
    judge,
    name_made_up,
    name_relevant,
    proposed_call,
    score_answer,
    score_reply,
    shown_views,
)
from callwright.llm.template.parallel import word_parallel
from callwright.llm.template.plain_sentences import choose_plain, is_unknown, plain_values, word_plainly
from callwright.llm.template.routing import word_routing
from callwright.llm.template.sections import Sections
from callwright.llm.template.steps_calling import next_calls
from callwright.llm.template.steps_wording import word_goal
from callwright.llm.template.wording import choose_names, refuse_gaps, word_call
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Language


class TemplateAnswer(NamedTuple):
    """The value to answer, and the defect that is in it, "" where none is."""

    value: JsonValue
    planted: str = ""


Task = Callable[[Sections, Random, Random, str], TemplateAnswer]


def task_named(title: str) -> Task:
    """The task that answers a schema of this title; ReplyError that lists the titles there are."""
    if title not in TASKS:
        known = ", ".join(TASKS)
        raise ReplyError(
            f"template/v1 has no grammar for the answer {title!r}; it can answer {known}, and free text as a candidate"
            " where the prompt shows <tools>. Use another model for this stage."
        )
    return TASKS[title]


def _name_parameters(sections: Sections, rng: Random, _: Random, __: str) -> TemplateAnswer:
    view = view_of(sections.json("tool"))
    offered, count = sections.listed("offered"), int(sections.word("count", "1"))
    choose = choose_plain if is_unknown(view) else choose_names
    names = choose([str(name) for name in offered], count, view, rng)
    return TemplateAnswer({"parameters": list(names)})


def _drawn_values(sections: Sections, rng: Random) -> Arguments:
    """A value for each parameter that the prompt names, and for one at most that may be added, beside those known."""
    view = view_of(sections.json("tool"))
    known = in_context(view.properties, view.name, view.actions[0])
    names = _named_parameters("parameters", sections, view)
    may = _named_parameters("may", sections, view) if "may" in sections.tagged else []
    names += rng.sample(may, min(len(may), rng.randint(0, 1))) if may else []
    given = _known_values(sections)
    if any(name not in known for name in given):
        raise ReplyError(f"template/v1 expects in <known> an object with parameters of {view.name!r}, not {given!r}.")
    if is_unknown(view):
        return plain_values(view, names, _language(sections), rng, given)
    refuse_gaps(view)
    for name in names:
        gap = value_gap(name, known[name], _language(sections))
        if gap:
            raise ReplyError(f"template/v1 can't fill in {name!r} of the tool {view.name!r}: {gap}.")
    return fill_in(names, known, _language(sections), rng, given)


def _named_parameters(tag: str, sections: Sections, view: ToolView) -> list[str]:
    names = sections.json(tag)
    if not isinstance(names, list) or any(name not in view.properties for name in names):
        raise ReplyError(f"template/v1 expects in <{tag}> a list of parameters of {view.name!r}, not {names!r}.")
    return [str(name) for name in names]


def _known_values(sections: Sections) -> Arguments:
    return sections.object("known") if "known" in sections.tagged else {}


def _draft_request(sections: Sections, rng: Random, flaws: Random, defect: str) -> TemplateAnswer:
    values = _drawn_values(sections, rng)
    call = {**_known_values(sections), **values}
    worded, planted = _worded_call(sections, call, rng, flaws, defect)
    return TemplateAnswer({"values": values, **worded}, planted)


def _word_request(sections: Sections, rng: Random, flaws: Random, defect: str) -> TemplateAnswer:
    worded, planted = _worded_call(sections, sections.object("arguments"), rng, flaws, defect)
    return TemplateAnswer({**worded}, planted)


def _worded_call(
    sections: Sections, arguments: Arguments, rng: Random, flaws: Random, defect: str
) -> tuple[Mapping[str, JsonValue], str]:
    """A wording of the call, and the defect that is in it."""
    view = view_of(sections.json("tool"))
    language = _language(sections)
    word = word_plainly if is_unknown(view) else word_call
    worded = word(view, arguments, language, rng)
    spoilt = spoil_wording(defect, view, arguments, language, flaws) if defect else None
    return (spoilt or worded).reply(), defect if spoilt else ""


def _ask_for_slot(sections: Sections, rng: Random, _: Random, __: str) -> TemplateAnswer:
    view, known = view_of(sections.json("tool")), sections.object("known")
    question = word_question(view, view.parameter(sections.json("parameter")), known, _language(sections), rng)
    return TemplateAnswer({"question": question})


def _answer_for_slot(sections: Sections, rng: Random, flaws: Random, defect: str) -> TemplateAnswer:
    view, value = view_of(sections.json("tool")), sections.json("value")
    parameter, language = view.parameter(sections.json("parameter")), _language(sections)
    is_bare = sections.word("manner", "sentence") == "bare"
    answered = word_answer(view, (parameter, value), language, rng, is_bare=is_bare)
    spoilt = spoil_answer(defect, view, (parameter, value), language, flaws) if defect else None
    return TemplateAnswer((spoilt or answered).reply(), defect if spoilt else "")


def _propose_call(sections: Sections, _: Random, flaws: Random, defect: str) -> TemplateAnswer:
    proposal, planted = proposed_call(sections, flaws, defect)
    return TemplateAnswer({"tool": proposal.tool, "arguments": proposal.arguments}, planted)


def _next_calls(sections: Sections, _: Random, flaws: Random, defect: str) -> TemplateAnswer:
    return TemplateAnswer(*next_calls(sections, defect, flaws))


def _change_value(sections: Sections, rng: Random, _: Random, __: str) -> TemplateAnswer:
    view = view_of(sections.json("tool"))
    call = ViewedCall(view, sections.object("arguments"))
    parameter = parameter_named(view, sections.json("parameter"))
    value = other_value(parameter, call, sections.turns(), _language(sections), rng)
    return TemplateAnswer({"value": value})


def _word_correction(sections: Sections, rng: Random, _: Random, __: str) -> TemplateAnswer:
    view = view_of(sections.json("tool"))
    change = CallChange(
        view,
        sections.object("arguments"),
        parameter_named(view, sections.json("parameter")),
        sections.json("new"),
        sections.word("case", ""),
        must_name=sections.json("named") is True,
    )
    worded = word_change(change, _language(sections), rng)
    return TemplateAnswer({"sentence": worded.sentence, "words": worded.words})


def _language(sections: Sections) -> Language:
    code = sections.word("language", fallback())
    if code not in known():
        raise ReplyError(f"template/v1 writes {', '.join(of(one).name for one in known())}, not {code!r}.")
    return code


TASKS: dict[str, Task] = {
    "ParameterNames": _name_parameters,
    "ArgumentValues": lambda sections, rng, _, __: TemplateAnswer({"values": _drawn_values(sections, rng)}),
    "DraftedRequest": _draft_request,
    "Wording": _word_request,
    "SlotQuestion": _ask_for_slot,
    "SlotAnswer": _answer_for_slot,
    "ProposedCall": _propose_call,
    "PlanValues": lambda _, __, ___, ____: TemplateAnswer({"values": []}),  # the planner draws as it would itself
    "ParallelWording": lambda sections, rng, _, __: TemplateAnswer(word_parallel(sections, _language(sections), rng)),
    "Choice": lambda sections, _, __, ___: TemplateAnswer(choose_options(sections)),
    "Judgement": lambda sections, _, __, ___: TemplateAnswer(judge(sections, shown_views(sections))),
    "AnswerScore": lambda sections, _, __, ___: TemplateAnswer(score_answer(sections)),
    "MessageFit": lambda sections, _, __, ___: TemplateAnswer(judge_message(sections, _language(sections))),
    "ReplyScore": lambda sections, _, __, ___: TemplateAnswer(score_reply(sections)),
    "PlanGrade": lambda sections, _, __, ___: TemplateAnswer(grade_plan(sections)),
    "MadeUp": lambda sections, _, __, ___: TemplateAnswer(name_made_up(sections, shown_views(sections))),
    "Relevance": lambda sections, _, __, ___: TemplateAnswer(name_relevant(sections, shown_views(sections))),
    "Entities": lambda sections, _, __, ___: TemplateAnswer(name_entities(sections)),
    "Pronoun": lambda sections, rng, _, __: TemplateAnswer(word_pronoun(sections, _language(sections), rng)),
    "SimulatedMessage": lambda sections, rng, _, __: TemplateAnswer(
        simulate_message(sections, _language(sections), rng)
    ),
    "PointedRequest": lambda sections, _, __, ___: TemplateAnswer(reword_request(sections, _language(sections))),
    "NewValue": _change_value,
    "Correction": _word_correction,
    "ToolNames": lambda sections, rng, _, __: TemplateAnswer({"tools": name_all(sections, _language(sections), rng)}),
    "ToolDescription": lambda sections, _, __, ___: TemplateAnswer(
        {"description": describe(sections, _language(sections))}
    ),
    "ToolParameters": lambda sections, _, __, ___: TemplateAnswer(
        {"parameters": parameter_sketches(sections, _language(sections))}
    ),
    "ToolReturns": lambda sections, _, __, ___: TemplateAnswer(
        {"returns": result_sketches(sections, _language(sections))}
    ),
    "MendedRequest": lambda sections, rng, _, __: TemplateAnswer(mend_request(sections, _language(sections), rng)),
    "RoutingWording": lambda sections, rng, _, __: TemplateAnswer({"request": word_routing(sections, rng)}),
    "FaultWords": lambda sections, rng, _, __: TemplateAnswer(word_fault(sections, _language(sections), rng)),
    "PolicyWords": lambda sections, rng, _, __: TemplateAnswer(word_policy(sections, _language(sections), rng)),
    "GoalWording": lambda sections, rng, _, __: TemplateAnswer({"request": word_goal(sections, rng)}),
    "NextCalls": _next_calls,
    "UserSentence": lambda sections, _, __, ___: TemplateAnswer({"sentence": sections.json("plain")}),
    "HeardQuestion": lambda _, __, ___, ____: TemplateAnswer({"wants": ["aside"]}),  # code has read what it names
    "ScenarioGoal": lambda sections, _, __, ___: TemplateAnswer(word_scenario(sections, _language(sections))),
    "UserWords": lambda sections, rng, _, __: TemplateAnswer(word_user_turn(sections, _language(sections), rng)),
    "AgentWords": lambda sections, rng, _, __: TemplateAnswer(word_agent_turn(sections, _language(sections), rng)),
    "ScenarioReading": lambda sections, _, __, ___: TemplateAnswer(read_scenario(sections)),
    "DialogueActs": lambda sections, _, __, ___: TemplateAnswer(label_acts(sections)),
}
