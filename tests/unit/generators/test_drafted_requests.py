"""Values are drawn by code, and requests are worded with slots (HammerBench D.2)."""

from random import Random

import pytest

from callwright.generators.own_values import OwnValues
from callwright.generators.single_turn.making import draw_values, write_requests
from callwright.generators.slots import SlottedRequest
from callwright.generators.stages import StageContext
from callwright.generators.stated_values import CallMention, QuotedValues
from callwright.generators.wording import AskedCall, FreeRequest, Speaker, word_calls
from callwright.language.values import read_value
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    Arguments,
    Assignment,
    Draft,
    DraftCall,
    Origin,
    ParameterChoice,
    Sample,
    Tool,
)

TOOL = Tool(
    name="book_train",
    description="Book a train. It leaves at once.",
    category="Trains",
    parameters={
        "type": "object",
        "properties": {
            "destination": {"type": "string", "description": "Where to go, e.g. Rome"},
            "day": {"type": "string", "format": "date"},
        },
        "required": ["destination", "day"],
    },
)
OWN = OwnValues({"destination": ["Kiel"], "day": ["2027-05-03"]})
WORDED = SlottedRequest(request="Get me to [destination] on [day], please.")


def context_with(script: dict[str, list[object]], **more: object) -> StageContext:
    chat = ScriptedModel(script)  # type: ignore[arg-type]
    return StageContext(chat, Random(0), {TOOL.key: TOOL}, own_values=OWN, **more)  # type: ignore[arg-type]


async def made(context: StageContext, value_set: int = 0) -> Sample:
    assignment = Assignment(
        kind="perfect",
        language="en",
        category="Trains",
        tool=TOOL.key,
        candidates=(TOOL.key,),
        parameter_count=2,
        seed=5,
        value_set=value_set,
        origin=Origin(stage="assignments"),
    )
    choice = ParameterChoice(assignment=assignment, parameters=("destination", "day"))
    [draft] = await draw_values(choice, context)
    [sample] = await write_requests(draft, context)
    return sample


async def test_the_model_sees_what_each_value_is_about_and_code_puts_the_values_in() -> None:
    context = context_with({"word_request": [WORDED]})
    sample = await made(context)
    [asked] = context.chat.asked  # type: ignore[attr-defined]
    shown = asked.messages[-1].content
    assert shown == ("<speaker>5</speaker>\nBook a train\n[destination]: Where to go\n[day]: day")
    assert "Kiel" not in str(asked)
    assert sample.request.startswith("Get me to Kiel on ")
    assert sample.gold[0].arguments == {"destination": "Kiel", "day": "2027-05-03"}
    place, day = sample.gold[0].evidence
    assert place.quote == "Kiel"
    assert read_value(day.quote, TOOL.properties["day"]) == "2027-05-03"
    assert sample.request[day.start : day.end] == day.quote
    assert sample.origin is not None
    assert sample.origin.stage == "requests"


async def test_a_wording_without_a_slot_is_asked_for_again_with_the_reason_and_not_the_reply() -> (
    None
):
    bad = SlottedRequest(request="Get me to Kiel on [day].")
    context = context_with({"word_request": [bad, WORDED]})
    await made(context)
    first, again = context.chat.asked  # type: ignore[attr-defined]
    assert again.messages[:-1] == first.messages[:-1]
    told = again.messages[-1].content.removeprefix(first.messages[-1].content)
    assert told.strip() == (
        "Your reply can't be used. Wanted: [destination], [day], each once. Found: [day]."
        " Missing: [destination]."
    )


async def test_three_wordings_without_a_slot_are_a_failure_that_says_why() -> None:
    bad = SlottedRequest(request="Get me to Kiel.")
    with pytest.raises(ReplyError, match=r"'book_train'.*Missing: \[destination\], \[day\]"):
        await made(context_with({"word_request": [bad] * 3}))


async def test_value_sets_share_one_prompt_and_differ_in_their_values() -> None:
    own = OwnValues({"destination": ["Kiel", "Rome", "Oslo"], "day": ["2027-05-03"]})
    context = context_with({"word_request": [WORDED] * 5})._replace(own_values=own)
    samples = [await made(context, value_set) for value_set in range(5)]
    asked = context.chat.asked  # type: ignore[attr-defined]
    assert len({str(prompt) for prompt in asked}) == 1
    assert len({sample.request for sample in samples}) > 1


async def test_free_wording_says_the_values_itself_and_readers_find_them() -> None:
    free = FreeRequest(request="Take me to Kiel on the third of May 2027.")
    context = context_with({"write_request": [free]}, wording="free")
    sample = await made(context)
    assert sample.request == free.request
    assert [one.quote for one in sample.gold[0].evidence] == ["Kiel", "the third of May 2027"]
    [asked] = context.chat.asked  # type: ignore[attr-defined]
    assert asked.messages[-1].content == (
        '<speaker>5</speaker>\n1. Book a train\nWhere to go: "Kiel"\nday: "2027-05-03"'
    )


async def test_a_free_wording_is_quoted_where_no_reader_finds_a_value_and_else_asked_again() -> (
    None
):
    odd = FreeRequest(request="To where the waves are, on 3 May 2027.")
    quote = CallMention(call=0, parameter="destination", words="where the waves are")
    script: dict[str, list[object]] = {
        "write_request": [odd],
        "quote_values": [QuotedValues(quotes=[quote])],
    }
    own = OwnValues({"destination": ["the seaside"], "day": ["2027-05-03"]})
    sample = await made(context_with(script, wording="free")._replace(own_values=own))
    assert sample.gold[0].evidence[0].quote == "where the waves are"
    code = FreeRequest(request="book_train to Kiel on 3 May 2027.")
    good = FreeRequest(request="To Kiel on 3 May 2027.")
    context = context_with({"write_request": [code, good]}, wording="free")
    assert (await made(context)).request == good.request


HOTELS = Tool(
    name="find_hotels",
    description="Find hotels in a city.",
    category="Travel",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "breakfast": {"type": "boolean", "description": "Whether breakfast is included"},
            "owner": {"type": "string", "description": "Whose house it is"},
        },
        "required": ["city"],
    },
)


async def hotels_asked(*requests: str, tool: Tool = HOTELS) -> tuple[Sample, int]:
    """The sample, and how often its wording was asked for."""
    chat = ScriptedModel({"word_request": [SlottedRequest(request=one) for one in requests]})
    assignment = Assignment(
        kind="perfect",
        language="en",
        category="Travel",
        tool=tool.key,
        candidates=(tool.key,),
        parameter_count=3,
        seed=5,
        origin=Origin(stage="assignments"),
    )
    draft = DraftCall(
        assignment=assignment,
        arguments={"city": "Kiel", "breakfast": True, "owner": "Lena"},
        origin=Origin(stage="values"),
    )
    [sample] = await write_requests(draft, StageContext(chat, Random(0), {tool.key: tool}))
    return sample, len(chat.asked)


async def test_an_optional_slot_that_a_wording_leaves_out_is_no_argument() -> None:
    sample, asked = await hotels_asked("Find me hotels in [city] of [owner].")
    assert sample.request == "Find me hotels in Kiel of Lena."
    assert sample.gold[0].arguments == {"city": "Kiel", "owner": "Lena"}
    assert [one.argument for one in sample.gold[0].evidence] == ["city", "owner"]
    assert asked == 1


WHOLE = "Find me hotels in [city] of [owner] [breakfast]."


@pytest.mark.parametrize(
    "text",
    [
        "Find me hotels of [owner] [breakfast].",  # the city is required
        "Find me hotels in [city] of [owner] with breakfast.",  # said without its slot
        "Find me hotels in [city] [breakfast] and say whose owner it is.",  # spoken of
        "Find me hotels in [city] [breakfast] at Maria's.",  # a value of the model's own
    ],
)
async def test_a_slot_that_is_required_or_said_in_other_words_is_asked_for_again(text: str) -> None:
    sample, asked = await hotels_asked(text, WHOLE)
    assert sample.gold[0].arguments == {"city": "Kiel", "breakfast": True, "owner": "Lena"}
    assert asked == 2


async def test_no_slot_is_dropped_that_the_whole_call_needs() -> None:
    needy = HOTELS.with_changes(
        parameters={**HOTELS.parameters, "dependentRequired": {"owner": ["breakfast"]}}
    )
    sample, asked = await hotels_asked("Find me hotels in [city] of [owner].", WHOLE, tool=needy)
    assert (len(sample.gold[0].arguments), asked) == (3, 2)
    sample, asked = await hotels_asked("Find me hotels in [city] [breakfast].", tool=needy)
    assert (sample.gold[0].arguments.keys(), asked) == ({"city", "breakfast"}, 1)


@pytest.mark.parametrize(("others", "dropped"), [({"city": "Rome"}, True), ({}, False)])
async def test_calls_of_one_message_stay_different(others: Arguments, dropped: bool) -> None:
    first: Arguments = {"city": "Kiel", "owner": "Lena"}
    calls = [AskedCall(HOTELS, one) for one in (first, {**first, "owner": "Tom", **others})]
    text = "Hotels in [city]" + (", and in [city_2]." if others else ", and again in [city].")
    whole = "Hotels in [city] of [owner], and in " + ("[city_2]" if others else "[city]")
    replies = [SlottedRequest(request=one) for one in (text, f"{whole} of [owner_2].")]
    context = StageContext(ScriptedModel({"word_requests": replies}), Random(0), {})
    draft = Draft(origin=Origin(stage="values"))
    worded = await word_calls(calls, Speaker("en", 1), draft, "requests", context)
    assert any("owner" in said for said in worded.said) is not dropped
