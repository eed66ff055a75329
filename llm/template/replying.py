"""Acting the assistant of a planned conversation, labelling what a reply does, and telling a scenario."""

import re
from collections.abc import Callable, Mapping
from random import Random

from pydantic import JsonValue

from language.calls.stating import say
from language.calls.tools import view_of
from llm.template.conversing_talk import Talk, action_of, listed, part_of
from llm.template.sections import Sections
from llm.template.slot_questions import word_question
from warehouse.errors import ReplyError
from warehouse.records import Language

_SEEKS = re.compile(r"[?？]")
_REJECTS = re.compile(
    r"\b(?:can't|cannot|can not|unable|not able|no way|not possible|don't (?:offer|support))\b|不能|无法|没有办法|不支持",
    re.IGNORECASE,
)
_NODS = re.compile(
    r"^\W*(?:you'?re welcome|any time|all right|no problem|of course|bye|不客气|好的|没问题|再见)", re.IGNORECASE
)
_SHORT = 40


def word_agent_turn(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The assistant's turn that does what the prompt's intent says."""
    talk = Talk([part_of(one) for one in listed(sections, "parts")], sections, language, rng)
    intent = sections.word("intent", "")
    if intent not in _AGENT:
        raise ReplyError(f"template/v1 knows no intent {intent!r} of an assistant; it knows {', '.join(_AGENT)}.")
    return {"text": _AGENT[intent](talk)}


def word_scenario(sections: Sections, language: Language) -> dict[str, JsonValue]:
    """The user's goal in words: what they want done, step by step."""
    told = []
    for step in listed(sections, "steps"):
        for part in (step.get("parts") or []) if isinstance(step, dict) else []:
            values = (
                "、".join(map(str, part["values"].values()))
                if language == "zh"
                else ", ".join(map(str, part["values"].values()))
            )
            told.append(
                f"{str(part['description']).rstrip('.。')} ({values})"
                if values
                else str(part["description"]).rstrip(".。")
            )
    if language == "zh":
        return {"goal": "你想请助手做这些事：" + "；".join(dict.fromkeys(told)) + "。"}
    return {"goal": "You want the assistant to do this: " + "; ".join(dict.fromkeys(told)) + "."}


def label_acts(sections: Sections) -> dict[str, JsonValue]:
    """What a reply does, told by its words."""
    reply = str(sections.json("reply"))
    acts: list[JsonValue] = []
    if _SEEKS.search(reply):
        acts.append("seek")
    if _REJECTS.search(reply):
        acts.append("reject")
    if not acts:
        acts.append("other" if _NODS.match(reply) and len(reply) < _SHORT else "inform")
    return {"acts": acts}


def _ask_parameters(talk: Talk) -> str:
    (part,) = talk.parts
    asked = [part.view.parameter(name) for name in listed(talk.sections, "asked")]
    questions = [word_question(part.view, one, part.arguments, talk.language, talk.rng) for one in asked]
    return talk.book.space.join(
        one if _SEEKS.search(one) else f"{one.rstrip('.。')}{'?' if talk.language == 'en' else '？'}"
        for one in questions
    )


def _ask_which(talk: Talk) -> str:
    one, other = (view_of(option) for option in listed(talk.sections, "options"))
    return talk.pick(talk.book.which, a=action_of(one, talk.language), b=action_of(other, talk.language))


def _ask_approval(talk: Talk) -> str:
    (part,) = talk.parts
    told = []
    for name, value in part.arguments.items():
        said = say(part.view.parameter(name), value, talk.language, talk.rng, plain=True)
        told.append(f"{said.cue} {said.shown}" if talk.language == "en" else f"{said.cue}{said.shown}")
    return talk.pick(talk.book.proposals, a=action_of(part.view, talk.language), l=talk.book.joint.join(told))


def _inform(talk: Talk) -> str:
    told = [talk.pick(talk.book.done)]
    for fact in listed(talk.sections, "facts"):
        if not isinstance(fact, dict):
            continue
        value = fact["value"]
        shown = talk.book.answers[value] if isinstance(value, bool) else str(value)
        told.append(talk.pick(talk.book.told, c=str(fact["label"]), v=shown))
    return talk.book.space.join(told)


def _tell_error(talk: Talk) -> str:
    (part,) = talk.parts
    told = [talk.pick(talk.book.errors, e=str(talk.sections.json("error")))]
    for name in listed(talk.sections, "asked"):
        cues = part.view.parameter(name).cues
        told.append(talk.pick(talk.book.others, c=cues.chinese if talk.language == "zh" else cues.english))
    return talk.book.space.join(told)


def _refuse(talk: Talk) -> str:
    return talk.pick(talk.book.refusals, a=action_of(view_of(listed(talk.sections, "options")[0]), talk.language))


_AGENT: Mapping[str, Callable[[Talk], str]] = {
    "ask_parameters": _ask_parameters, "ask_which": _ask_which, "ask_approval": _ask_approval, "inform": _inform,
    "tell_error": _tell_error, "refuse": _refuse, "acknowledge": lambda talk: talk.pick(talk.book.nods),
}  # fmt: skip
