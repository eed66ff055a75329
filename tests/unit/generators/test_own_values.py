"""Values of the user's own: drawn by the seed, in the parameter's type, and never in the place
of another's.
"""

from random import Random

from callwright.generators.own_values import OwnValues
from callwright.generators.single_turn.making import draw_values
from callwright.generators.stages import StageContext
from callwright.generators.voices import UserVoice, VoicedChat
from callwright.llm.chat import ChatMessage, Prompt
from callwright.testing import ScriptedModel
from callwright.warehouse.records import Assignment, ParameterChoice, Tool

TOOL = Tool(
    name="book_train",
    description="Book a train.",
    category="Trains",
    parameters={
        "type": "object",
        "required": ["origin", "destination"],
        "properties": {
            "origin": {"type": "string"},
            "destination": {"type": "string"},
            "seats": {"type": "integer"},
            "stops": {"type": "array", "items": {"type": "string"}},
        },
    },
)
OWN = OwnValues(
    {
        "origin": ["Ulm", "Bonn"],
        "book_train.destination": ["Ulm", "Kiel"],
        "seats": ["3"],
        "stops": ["Celle"],
    }
)


def test_each_value_has_the_type_of_its_parameter_and_no_two_are_the_same() -> None:
    drawn = [
        OWN.draw(TOOL, ["origin", "destination", "seats", "stops"], Random(seed))
        for seed in range(30)
    ]
    assert {one["origin"] for one in drawn} == {"Ulm", "Bonn"}
    assert all(
        one["origin"] != one["destination"] and one["seats"] == 3 and one["stops"] == ["Celle"]
        for one in drawn
    )
    assert OWN.draw(TOOL, ["origin"], Random(1)) == OWN.draw(TOOL, ["origin"], Random(1))


def test_a_name_with_its_tool_comes_first_and_holds_for_that_tool_alone() -> None:
    other = TOOL.with_changes(name="cancel_train")
    assert OwnValues({"origin": ["Ulm"], "book_train.origin": ["Jena"]}).of(TOOL, "origin") == [
        "Jena"
    ]
    assert OWN.of(other, "destination") == []


async def test_own_values_are_taken_and_the_others_drawn() -> None:
    assignment = Assignment(
        kind="perfect",
        language="en",
        category="Trains",
        tool=TOOL.key,
        candidates=(TOOL.key,),
        parameter_count=3,
        seed=5,
    )
    choice = ParameterChoice(assignment=assignment, parameters=("origin", "destination", "seats"))
    own = OwnValues({"origin": ["Ulm"], "destination": ["Kiel"]})
    context = StageContext(ScriptedModel({}), Random(0), {TOOL.key: TOOL}, {}, own)
    [draft] = await draw_values(choice, context)
    assert [*draft.arguments] == ["origin", "destination", "seats"]
    assert (draft.arguments["origin"], draft.arguments["destination"]) == ("Ulm", "Kiel")
    assert isinstance(draft.arguments["seats"], int)


class AnsweringModel(ScriptedModel):
    """Answers everything with one object."""

    def __init__(self, answer: object) -> None:
        super().__init__({})
        self._answer = answer

    async def ask(self, prompt, answer, *, sample_index=0):
        self.asked.append(prompt)
        return answer.model_validate(self._answer)


async def test_examples_stand_with_the_instructions_of_prompts_that_word_requests_and_of_no_others() -> (
    None
):
    chat = AnsweringModel("")
    voiced = VoicedChat(
        chat,
        ("write_request",),
        UserVoice(),
        [{"request": "Nach Kiel, bitte", "tool": "book_train"}],
    )
    for name in ("write_request", "fill_values"):
        messages = (
            ChatMessage(role="system", content="Write."),
            ChatMessage(role="user", content="<tool>x</tool>"),
        )
        prompt = Prompt(name=name, version="1", messages=messages)
        framed = voiced._framed(prompt)
        assert (
            '<example>{"request":"Nach Kiel, bitte","tool":"book_train"}</example>'
            in framed.messages[0].content
        ) == (name == "write_request")
        assert framed.messages[1] == messages[1]
