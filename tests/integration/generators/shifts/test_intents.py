"""Intent shifts: the old talk stays, the new request is for nothing at hand, and the assistant
declines.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from callwright.generators.shifts.turns import mismatch, shift_intents, stock_phrases
from callwright.validators.checks.format import check_format
from callwright.validators.reading.one_call import check_relevance
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    CallTurn,
    Derivation,
    GoldCall,
    ReplyTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
)

Made = Mapping[str, Callable[[], Sample]]


def refill(catalog: Mapping[str, Tool], language: Any = "en") -> Sample:
    said = {"en": "Refill a prescription: RX54321.", "zh": "在药店续配处方药，处方编号RX54321。"}[
        language
    ]
    tool = next(
        one
        for one in catalog.values()
        if one.name.startswith("Pharmacy") and one.language == language
    )
    call = GoldCall(tool=tool.name, arguments={"prescription_number": "RX54321"})
    return Sample(
        kind="perfect",
        language=language,
        category="x",
        candidates=(tool.key,),
        turns=(UserTurn(text=said), CallTurn(calls=(call,))),
    )


def planned(source: Sample, other: Sample | None, seed: int = 1) -> Derivation:
    return Derivation(transform="IS", source=source, other=other, seed=seed)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["asked", "asked_in_chinese"])
async def test_the_talk_up_to_the_shift_is_kept_and_the_assistant_declines(
    name: str, seed: int, conversations: Made, catalog: Mapping[str, Tool], context_for: Any
) -> None:
    source = conversations[name]()
    other = refill(catalog, source.language)
    [sample] = await shift_intents(planned(source, other, seed), context_for(seed))
    *kept, request, calls, refusal = sample.turns
    assert tuple(kept) == source.turns[: len(kept)]
    assert len(kept) in (3, 6)
    assert isinstance(request, UserTurn)
    assert request.text.endswith(other.request)
    assert request.text.removesuffix(other.request) in stock_phrases(source.language, "openers")
    assert calls == CallTurn()
    assert isinstance(refusal, ReplyTurn)
    assert refusal.text in stock_phrases(source.language, "refusals")
    assert sample.kind == "IS"
    assert sample.gold == ()
    assert sample.facts == SampleFacts(shifts=(len(kept) // 3,))
    assert [catalog[key].name for key in sample.withheld] == ["Pharmacy.Orders.refillPrescription"]
    assert [verdict.decision for verdict in await check_format(sample, context_for())] == ["proved"]
    assert [verdict.decision for verdict in await check_relevance(sample, context_for())] == [
        "proved"
    ]


async def test_a_request_that_a_candidate_may_serve_is_no_shift(
    conversations: Made, catalog: Mapping[str, Tool], context_for: Any
) -> None:
    source = conversations["asked"]()
    forecast = conversations["executed_in_turns"]()
    assert "may serve" in mismatch(source, forecast, catalog)
    with pytest.raises(RecordError, match=r"Weather\.Days\.tellForecast"):
        await shift_intents(planned(source, forecast), context_for())


def test_requests_in_another_language_or_for_an_unknown_tool_are_no_shift(
    conversations: Made, catalog: Mapping[str, Tool]
) -> None:
    source = conversations["asked"]()
    assert "'zh'" in mismatch(source, refill(catalog, "zh"), catalog)
    unknown = refill(catalog).with_changes(candidates=())
    assert "not known" in mismatch(source, unknown, catalog)
    withheld = conversations["irrelevant"]()
    assert "not known" in mismatch(source, withheld, catalog)
    flights = next(tool.key for tool in catalog.values() if tool.name.startswith("Air"))
    assert "may serve" in mismatch(source, withheld.with_changes(withheld=(flights,)), catalog)
