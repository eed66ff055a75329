"""The template model mends a request that lacks details."""

import pytest

from callwright.generators.multi_step.correction import MendedRequest
from callwright.language.values import locate
from callwright.llm.prompts import render
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language
from tests.support.generators.dialogue_parts import RecordingTemplateChat

DETAILS: list[tuple[object, JsonSchema]] = [
    ("2027-03-05", {"type": "string", "format": "date"}),
    ("17:30", {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}),
    (4, {"type": "integer", "minimum": 1, "maximum": 9}),
    ("PREMIUM_ECONOMY", {"type": "string", "enum": ["ECONOMY", "PREMIUM_ECONOMY"]}),
    ("Oslo", {"type": "string"}),
]


async def mended(missing: object, language: Language = "en", seed: int = 1) -> str:
    request = "I need a flight." if language == "en" else "我想订一张机票。"
    prompt = render(
        "callwright.generators.multi_step.prompts",
        "rewrite_goal",
        request=request,
        missing=missing,
        language=language,
        seed=seed,
    )
    return (await RecordingTemplateChat().ask(prompt, MendedRequest)).request


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("value", "schema"), DETAILS)
@pytest.mark.parametrize("seed", range(4))
async def test_each_missing_detail_is_said(
    value: str, schema: JsonSchema, language: Language, seed: int
) -> None:
    text = await mended(
        [{"parameter": "depart_at", "value": value, "schema": schema}], language, seed
    )
    assert text.startswith("I need a flight." if language == "en" else "我想订一张机票。")
    assert locate(value, schema, text) is not None


async def test_what_is_not_shown_as_a_list_is_told() -> None:
    with pytest.raises(ReplyError, match="a JSON list in the section <missing>"):
        await mended("Oslo")
