"""The worked examples in prompts are answers that the stage would take: of its class, and in
their language.
"""

import re
from pathlib import Path

import orjson
import pytest
from pydantic import BaseModel

from callwright.generators.conversations.making import AgentWords, DialogueActs, UserWords
from callwright.generators.conversations.moves import ScenarioGoal
from callwright.generators.dialogues.making import SlotAnswer, SlotQuestion
from callwright.generators.external.entities import Entities
from callwright.generators.external.making import PointedRequest
from callwright.generators.external.messages import Pronoun, SimulatedMessage
from callwright.generators.faults.making import FaultWords
from callwright.generators.given_values import ArgumentValues
from callwright.generators.multi_step.answers import AnswerWording
from callwright.generators.multi_step.correction import MendedRequest, NextCalls
from callwright.generators.multi_step.wording import GoalWording
from callwright.generators.policies.making import PolicyWords
from callwright.generators.sentences.value_pools import ThoughtUpValues
from callwright.generators.shifts.making import NewValue, OverridingText
from callwright.generators.single_turn.making import ParameterNames
from callwright.generators.slots import SlottedRequest
from callwright.generators.stated_values import QuotedValues
from callwright.generators.toolset.steps import (
    ToolDescription,
    ToolNames,
    ToolParameters,
    ToolReturns,
)
from callwright.generators.users.user import OpeningWords
from callwright.generators.wording import FreeRequest
from callwright.language.packs import known, of, writes
from callwright.validators.judges import Judgement, MadeUp, ProposedCall, Relevance, ScenarioReading

ROOT = Path(__file__).parents[2]
OF_LANGUAGES: dict[str, type[BaseModel]] = {
    "call_one_shot": ProposedCall,
    "word_request": SlottedRequest,
    "word_requests": SlottedRequest,
    "write_request": FreeRequest,
    "word_goal": GoalWording,
    "rewrite_goal": MendedRequest,
    "answer_question": SlotAnswer,
    "ask_question": SlotQuestion,
    "word_correction": OverridingText,
    "word_pronoun": Pronoun,
    "write_message": SimulatedMessage,
    "rewrite_request": PointedRequest,
    "word_fault": FaultWords,
    "word_policy": PolicyWords,
    "word_user_turn": UserWords,
    "word_agent_turn": AgentWords,
}
IN_PROMPTS: dict[str, type[BaseModel]] = {
    "call_next": NextCalls,
    "word_answer": AnswerWording,
    "open_as_user": OpeningWords,
    "quote_values": QuotedValues,
    "choose_parameters": ParameterNames,
    "judge_calls": Judgement,
    "judge_prediction": Judgement,
    "judge_path_call": Judgement,
    "judge_parameters": MadeUp,
    "judge_relevance": Relevance,
    "read_scenario": ScenarioReading,
    "label_acts": DialogueActs,
    "find_entities": Entities,
    "fill_values": ArgumentValues,
    "fill_slots": ArgumentValues,
    "think_up_values": ThoughtUpValues,
    "change_value": NewValue,
    "plan_scenario_goal": ScenarioGoal,
    "name_tools": ToolNames,
    "describe_tool": ToolDescription,
    "choose_tool_parameters": ToolParameters,
    "choose_returns": ToolReturns,
}
_EXAMPLE = re.compile(r"<example>\n(.*?)\n</example>", re.DOTALL)


def answered(example: str, answer: type[BaseModel]) -> BaseModel:
    """The answer in the last line of an example, with no field that its class lacks."""
    given = orjson.loads(example.splitlines()[-1])
    assert given.keys() <= answer.model_fields.keys()
    return answer.model_validate(given)


@pytest.mark.parametrize("code", known())
def test_each_language_has_examples_of_each_prompt_that_words(code: str) -> None:
    examples = of(code).data["examples"]
    assert examples.keys() == OF_LANGUAGES.keys()
    for name, answer in OF_LANGUAGES.items():
        cases = examples[name]
        for example in cases.values() if isinstance(cases, dict) else cases:
            given = answered(example, answer).model_dump()
            text = next((value for value in given.values() if isinstance(value, str)), "")
            assert name == "call_one_shot" or writes(code, text), (name, text)


@pytest.mark.parametrize("name", IN_PROMPTS)
def test_an_example_in_a_prompt_is_an_answer_of_its_class(name: str) -> None:
    (path,) = [
        path
        for folder in ("generators", "validators")
        for path in (ROOT / folder).rglob(f"prompts/{name}.j2")
    ]
    examples = _EXAMPLE.findall(path.read_text(encoding="utf-8"))
    assert examples
    for example in examples:
        answered(example, IN_PROMPTS[name])
