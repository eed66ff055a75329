"""Of what took place: a value that nothing says is marked for people, and what the assistant
wrote itself is read by a rubric.
"""

from random import Random
from typing import Any

import pytest

from callwright.annotation.sample_review import review_task
from callwright.generators.stages import StageContext
from callwright.generators.taken import CALL, CONVERSATION
from callwright.testing import ScriptedModel
from callwright.validators.checks.table import told_in_english
from callwright.validators.checks.taken import ComposedScore, check_composed, check_traced
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
    Verdict,
)

TEXT = {"type": "string", "description": ""}
MAIL = Tool(
    name="send_mail",
    description="Send a mail.",
    category="Mail",
    parameters={
        "type": "object",
        "properties": {"to": TEXT, "body": TEXT, "copies": {"type": "integer", "default": 1}},
    },
)
BODY = "Dear Ann, I am afraid that my train is late. See you soon! Tom"


def sample(*turns: Any, kind: str = CALL, system: str = "") -> Sample:
    return Sample(
        kind=kind,
        language="en",
        category="Mail",
        candidates=(MAIL.key,),
        turns=turns,
        system_message=system,
    )


def asked(text: str, **arguments: Any) -> Sample:
    return sample(
        UserTurn(text=text), CallTurn(calls=(GoldCall(tool=MAIL.name, arguments=arguments),))
    )


async def traced(one: Sample) -> Verdict:
    [verdict] = await check_traced(one, context())
    return verdict


def context(chat: Any = None) -> StageContext:
    return StageContext(chat, Random(1), {MAIL.key: MAIL})


async def test_a_value_that_nothing_says_is_for_people_with_its_argument() -> None:
    one = asked("Write to ann@example.org.", to="bob@example.org")
    verdict = await traced(one)
    assert verdict.decision == "unproved"
    assert [(doubt.kind, doubt.turn, doubt.argument, doubt.value) for doubt in verdict.doubts] == [
        ("untraced", 1, "to", "bob@example.org")
    ]
    task = review_task(one, [MAIL], told_in_english([verdict]), reason="In doubt.")
    assert task.failed == "Nothing in the conversation says to = bob@example.org."


@pytest.mark.parametrize(
    "one",
    [
        asked("Write to ann@example.org.", to="ann@example.org"),
        asked("Write to ann@example.org.", to="ann@example.org", copies=1),
        sample(
            UserTurn(text="Write to Ann."),
            CallTurn(calls=(GoldCall(tool=MAIL.name, arguments={"body": "Ann"}),), executed=True),
            ResultTurn(results=("Ann has ann@example.org and a5@example.org",)),
            CallTurn(calls=(GoldCall(tool=MAIL.name, arguments={"to": "a5@example.org"}),)),
            kind=CONVERSATION,
        ),
        sample(
            UserTurn(text="Write to Ann."),
            ReplyTurn(text="Is that ann@example.org?"),
            UserTurn(text="Yes."),
            CallTurn(calls=(GoldCall(tool=MAIL.name, arguments={"to": "ann@example.org"}),)),
        ),
        sample(
            UserTurn(text="Write to the desk."),
            CallTurn(calls=(GoldCall(tool=MAIL.name, arguments={"to": "desk@example.org"}),)),
            system="The desk has desk@example.org.",
        ),
    ],
    ids=["user", "default", "inside a result's text", "the assistant's question", "system message"],
)
async def test_whoever_says_it_it_is_traced(one: Sample) -> None:
    assert (await traced(one)).decision == "proved"


async def test_a_composed_text_is_not_traced_but_read_and_judged_by_its_score() -> None:
    one = asked("Tell ann@example.org that my train is late.", to="ann@example.org", body=BODY)
    assert (await traced(one)).decision == "proved"
    for score, decision in ((5, "proved"), (2, "unproved")):
        chat = ScriptedModel(
            {"judge_composed": [ComposedScore(reason="So.", score=score)]}, name="judge/x"
        )
        [verdict] = await check_composed(one, context(chat))
        assert verdict.decision == decision
    assert [(doubt.kind, doubt.argument, doubt.other) for doubt in verdict.doubts] == [
        ("composed_amiss", "body", "So.")
    ]


async def test_what_no_model_that_reads_language_has_read_waits() -> None:
    one = asked("Tell ann@example.org that my train is late.", to="ann@example.org", body=BODY)
    [verdict] = await check_composed(one, context(ScriptedModel({}, name="template/v1")))
    assert (verdict.decision, verdict.doubts[0].kind) == ("unproved", "composed_unread")


def tool_of(*names: str, kind: str = "string") -> Tool:
    properties = {name: {"type": kind, "description": ""} for name in names}
    parameters = {"type": "object", "properties": properties}
    return Tool(name="act", description="", category="", parameters=parameters)


async def doubts_of(tool: Tool, text: str, **arguments: Any) -> list[tuple[str, str, Any]]:
    call = GoldCall(tool="act", arguments=arguments)
    return await doubts_in(tool, UserTurn(text=text), CallTurn(calls=(call,)))


async def doubts_in(tool: Tool, *turns: Any) -> list[tuple[str, str, Any]]:
    one = sample(*turns, kind=CONVERSATION).with_changes(candidates=(tool.key,))
    [verdict] = await check_traced(one, StageContext(None, Random(1), {tool.key: tool}))
    return [(doubt.kind, doubt.argument, doubt.other) for doubt in verdict.doubts]


async def test_a_value_that_the_words_give_to_another_parameter_is_named_with_that() -> None:
    tool = tool_of("origin", "destination")
    text = "To Madrid from Porto, please."
    assert await doubts_of(tool, text, origin="Madrid", destination="Porto") == [
        ("exchanged", "origin", "Porto"),
        ("exchanged", "destination", "Madrid"),
    ]
    assert await doubts_of(tool, text, origin="Porto", destination="Madrid") == []


async def test_ends_of_a_range_the_wrong_way_round_are_named() -> None:
    tool = tool_of("min_price", "max_price", kind="integer")
    found = await doubts_of(tool, "Headphones, 50 to 90.", min_price=90, max_price=50)
    assert {kind for kind, _, _ in found} == {"exchanged"}
    assert await doubts_of(tool, "Headphones, 50 to 90.", min_price=50, max_price=90) == []


@pytest.mark.parametrize(
    ("text", "people", "kinds"),
    [
        ("A taxi for four, no wait, make it six.", 4, ["corrected"]),
        ("A taxi for four, no wait, make it six.", 6, []),
        ("A taxi for four or six people.", 4, ["either"]),
        ("A taxi for four.", 4, []),
        ("A taxi for four.", 5, ["untraced"]),
    ],
)
async def test_one_of_two_like_values_is_doubted(text: str, people: int, kinds: list[str]) -> None:
    tool = tool_of("people", kind="integer")
    assert [kind for kind, _, _ in await doubts_of(tool, text, people=people)] == kinds


async def test_one_of_two_like_codes_is_doubted_if_no_call_uses_the_other() -> None:
    text = "He did BIO-101 in spring; for fall he is in BIO-202."
    tool = tool_of("course", "other")
    assert await doubts_of(tool, text, course="BIO-101") == [("like_value", "course", "BIO-202")]
    assert await doubts_of(tool, text, course="BIO-101", other="BIO-202") == []


@pytest.mark.parametrize(
    ("last", "found"), [("19th", []), ("18th", [("corrected", "day", "2026-03-19")])]
)
async def test_a_value_that_a_later_call_replaced_is_named_if_it_comes_back(
    last: str, found: list[tuple[str, str, str]]
) -> None:
    tool = tool_of("day")
    turns = [
        turn
        for day in ("18th", "19th")
        for turn in (
            UserTurn(text=f"What is free on the {day} of March 2026?"),
            CallTurn(
                calls=(GoldCall(tool="act", arguments={"day": f"2026-03-{day[:2]}"}),),
                executed=True,
            ),
            ResultTurn(results=({"free": ["11:30"]},)),
            ReplyTurn(text="11:30 is free."),
        )
    ]
    booked = CallTurn(calls=(GoldCall(tool="act", arguments={"day": f"2026-03-{last[:2]}"}),))
    assert await doubts_in(tool, *turns, UserTurn(text="Fine, book it."), booked) == found


async def test_a_value_of_the_call_before_is_named_if_the_words_have_another_for_this_one() -> None:
    tool = tool_of("name", "born")
    said = "Ann Moor, born 3 February 2019, and Ben Moor, born 19 September 2016."
    born = ("2019-02-03", "2019-02-03", "2016-09-19")
    ann, wrong, right = (
        GoldCall(tool="act", arguments={"name": name, "born": day})
        for name, day in zip(("Ann Moor", "Ben Moor", "Ben Moor"), born, strict=True)
    )
    assert await doubts_in(tool, UserTurn(text=said), CallTurn(calls=(ann, right))) == []
    found = await doubts_in(tool, UserTurn(text=said), CallTurn(calls=(ann, wrong)))
    assert found == [("exchanged", "born", "19 September 2016")]


async def test_the_row_that_the_user_speaks_of_is_named_if_the_call_has_another_one() -> None:
    tool = tool_of("train")
    rows = [{"train": "LC-8231", "leaves": "14:36"}, {"train": "LC-8257", "leaves": "17:05"}]
    asked_first = (
        UserTurn(text="Which trains are there?"),
        CallTurn(calls=(GoldCall(tool="act", arguments={}),), executed=True),
        ResultTurn(results=({"trains": rows},)),
        ReplyTurn(text="There are two."),
        UserTurn(text="The one at 17:05."),
    )
    for train, found in (("LC-8257", []), ("LC-8231", [("exchanged", "train", "LC-8257")])):
        call = CallTurn(calls=(GoldCall(tool="act", arguments={"train": train}),))
        assert await doubts_in(tool, *asked_first, call) == found


async def test_a_number_with_two_digits_swapped_is_named_with_the_one_that_is_said() -> None:
    tool, text = tool_of("phone"), "Ring me on 07700 900482."
    assert await doubts_of(tool, text, phone="+447700900482") == []
    assert await doubts_of(tool, text, phone="+447700900428") == [
        ("like_value", "phone", "07700 900482")
    ]


async def test_the_way_back_is_not_the_wrong_way_round() -> None:
    tool = tool_of("origin", "destination")
    out, back = (
        GoldCall(tool="act", arguments={"origin": one, "destination": other})
        for one, other in (("Porto", "Madrid"), ("Madrid", "Porto"))
    )
    turns = (UserTurn(text="From Porto to Madrid and back."), CallTurn(calls=(out, back)))
    assert await doubts_in(tool, *turns) == []


async def test_a_choice_or_a_flag_that_nothing_says_is_no_doubt() -> None:
    properties = {
        "mode": {"type": "string", "enum": ["walking", "driving"]},
        "quiet": {"type": "boolean"},
        "note": {"type": "string"},
    }
    tool = tool_of().with_changes(parameters={"type": "object", "properties": properties})
    found = await doubts_of(tool, "How do I get there on foot?", mode="walking", quiet=True)
    assert found == []
    said = {"mode": "walking", "note": "zebra"}
    assert await doubts_of(tool, "How do I get there on foot?", **said) == [
        ("untraced", "note", None)
    ]


async def test_the_likeliest_wrong_value_is_the_first_that_people_read() -> None:
    tool = tool_of("people", "note", kind="integer")
    one = sample(
        UserTurn(text="For four, no wait, make it six."),
        CallTurn(calls=(GoldCall(tool="act", arguments={"note": 77, "people": 4}),)),
    ).with_changes(candidates=(tool.key,))
    context_of_tool = StageContext(None, Random(1), {tool.key: tool})
    [verdict] = await check_traced(one, context_of_tool)
    task = review_task(one, [tool], told_in_english([verdict]), reason="In doubt.")
    first, second = task.failed.splitlines()
    assert first.startswith("people = 4 is taken back")
    assert "six" in first
    assert second == "Nothing in the conversation says note = 77."
