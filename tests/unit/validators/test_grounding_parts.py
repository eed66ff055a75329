"""Arguments made of several values are grounded part by part, and form checks know the parts."""

from typing import Any

from callwright.testing import context_of
from callwright.validators.checks.format import check_format
from callwright.validators.checks.grounding import check_grounding
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)

LEG = {
    "type": "object",
    "properties": {"fromId": {"type": "string"}, "date": {"type": "string", "format": "date"}},
    "required": ["fromId", "date"],
}
TOOL = Tool(
    name="search_trips",
    description="Search trips of several legs.",
    category="Trips",
    parameters={
        "type": "object",
        "properties": {
            "legs": {"type": "array", "items": LEG},
            "stops": {"type": "string"},
            "leave": {"type": "string"},
        },
    },
)
FIND = Tool(
    name="find_place",
    description="Find a place.",
    category="Trips",
    parameters={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
PLACES = {
    "data": [{"id": "p7", "name": "Oslo", "at": "2027-03-05 10:00"}, {"id": "p8", "name": "Bern"}]
}
REQUEST = "From Oslo on 5 March 2027, please."


def by_result(argument: str, path: str, rule: str) -> Evidence:
    return Evidence(
        argument=argument, kind="response", turn=2, path=f"turns[2].results[0].{path}", rule=rule
    )


def said(argument: str, quote: str) -> Evidence:
    start = REQUEST.index(quote)
    return Evidence(
        argument=argument,
        kind="normalised",
        turn=0,
        start=start,
        end=start + len(quote),
        quote=quote,
    )


def sample(arguments: dict[str, Any], *evidence: Evidence) -> Sample:
    find = GoldCall(tool="find_place", arguments={"text": "Oslo"}, evidence=(said("text", "Oslo"),))
    return Sample(
        kind="multi_step",
        language="en",
        category="Trips",
        candidates=(TOOL.key, FIND.key),
        tags=("environment=trips",),
        turns=(
            UserTurn(text=REQUEST),
            CallTurn(calls=(find,), executed=True),
            ResultTurn(results=(PLACES,)),
            CallTurn(
                calls=(GoldCall(tool="search_trips", arguments=arguments, evidence=evidence),),
                executed=True,
            ),
            ResultTurn(results=({"data": []},)),
            ReplyTurn(text="There is none."),
        ),
    )


async def decisions(one: Sample) -> tuple[str, str]:
    context = context_of((TOOL, FIND))
    (form,), (grounds,) = await check_format(one, context), await check_grounding(one, context)
    return form.decision, grounds.decision


LEGS = [{"fromId": "p7", "date": "2027-03-05"}]
FROM = by_result("legs[0].fromId", "data[0].id", 'id of data: name equals "Oslo"')


async def test_a_list_of_objects_is_grounded_member_by_member() -> None:
    assert await decisions(sample({"legs": LEGS}, FROM, said("legs[0].date", "5 March 2027"))) == (
        "proved",
        "proved",
    )


async def test_a_joined_text_is_grounded_piece_by_piece() -> None:
    parts = [by_result(f"stops[{at}]", f"data[{at}].id", "id of data") for at in (0, 1)]
    assert await decisions(sample({"stops": "p7,p8"}, *parts)) == ("proved", "proved")
    assert (await decisions(sample({"stops": "p7,p9"}, *parts)))[1] == "unproved"


async def test_evidence_for_what_is_no_argument_is_still_contradicted() -> None:
    assert (await decisions(sample({"stops": "p7"}, FROM)))[0] == "contradicted"
