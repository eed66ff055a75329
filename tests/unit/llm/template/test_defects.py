from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import orjson
import pytest

from callwright.generators.slots import SlottedRequest, wording_problem
from callwright.language.calls.sampling import fill_in
from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.prompts import render
from callwright.llm.template.defects import DEFECTS, MALFORMED_JSON, REFUSAL
from callwright.llm.template.model import TemplateModel
from callwright.validators.judges import ProposedCall
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Arguments, Tool
from tests.support.llm.template.slotted import filled_reply, slots_for, slotted_prompt

Ask = Callable[..., ChatRequest]
ROUNDS = 60


def _drafts(tools: tuple[Tool, ...]) -> list[tuple[int, Tool, Arguments]]:
    drafts = []
    for seed in range(ROUNDS):
        rng = Random(seed)
        tool = rng.choice(tools)
        chosen = [name for name in tool.properties if rng.random() < 0.6]
        drafts.append((seed, tool, fill_in(chosen, tool.properties, tool.language, rng)))
    return drafts


async def _wording(
    model: TemplateModel, tool: Tool, arguments: Arguments, seed: int, ask: Ask
) -> RawReply:
    return await model.send(ask(slotted_prompt(tool, arguments, seed), SlottedRequest))


async def _call(
    model: TemplateModel, tools: tuple[Tool, ...], request: str, ask: Ask, answer: Any
) -> RawReply:
    shown = [one.signature for one in tools]
    name = "call_zero_shot" if answer else "answer_as_candidate"
    prompt = render(
        "callwright.validators.prompts", name, tools=shown, conversation=f"user: {request}"
    )
    return await model.send(ask(prompt, answer))


@pytest.mark.parametrize(
    "rates",
    [
        {"typo": 0.1},
        {"refusal": 1.5},
        {"refusal": -0.1},
        {"refusal": 0.6, "wrong_tool": 0.6},
        {"refusal": True},
        {"refusal": float("nan")},
    ],
)
def test_a_wrong_error_rate_is_answered_with_the_valid_names(rates: dict[str, float]):
    with pytest.raises(ConfigurationError) as caught:
        TemplateModel(error_rate=rates)
    assert all(name in str(caught.value) for name in DEFECTS)


async def test_nothing_is_planted_without_a_rate(tools: tuple[Tool, ...], ask: Ask):
    for seed, tool, arguments in _drafts(tools):
        reply = await _wording(TemplateModel(), tool, arguments, seed, ask)
        assert reply.planted == ""
        request = filled_reply(reply.text, tool, arguments, seed).text
        assert (await _call(TemplateModel(), tools, request, ask, ProposedCall)).planted == ""


@pytest.mark.parametrize(
    "defect", [name for name in DEFECTS if name not in (MALFORMED_JSON, REFUSAL)]
)
async def test_a_spoilt_call_has_the_defect_and_owns_up_to_it(
    tools: tuple[Tool, ...], ask: Ask, defect: str
):
    planted = 0
    for seed, tool, arguments in _drafts(tools):
        reply = await _wording(TemplateModel(), tool, arguments, seed, ask)
        said = filled_reply(reply.text, tool, arguments, seed).text
        right = ProposedCall.model_validate_json(
            (await _call(TemplateModel(), tools, said, ask, ProposedCall)).text
        )
        spoiler = TemplateModel(error_rate={defect: 1.0})
        reply = await _call(spoiler, tools, said, ask, ProposedCall)
        wrong = ProposedCall.model_validate_json(reply.text)
        assert (wrong != right) == bool(reply.planted)
        if reply.planted:
            planted += 1
            assert reply.planted == defect
            _check_call(defect, right, wrong)
        candidate = await _call(spoiler, tools, said, ask, None)
        assert candidate.planted == reply.planted
    assert planted > ROUNDS / 2


def _check_call(defect: str, right: ProposedCall, wrong: ProposedCall) -> None:
    extra = set(wrong.arguments) - set(right.arguments)
    missing = set(right.arguments) - set(wrong.arguments)
    changed = {
        name
        for name in right.arguments
        if name in wrong.arguments and right.arguments[name] != wrong.arguments[name]
    }
    match defect:
        case "wrong_tool":
            assert wrong.tool != right.tool
        case "missing_argument":
            assert (len(missing), extra, changed) == (1, set(), set())
        case "extra_argument":
            assert (missing, len(extra), changed) == (set(), 1, set())
        case "wrong_argument":
            assert (missing, extra) == (set(), set())
            assert changed
        case "hallucinated_value":
            assert missing == set()
            assert len(extra | changed) == 1


@pytest.mark.parametrize(
    "defect", [name for name in DEFECTS if name not in (MALFORMED_JSON, REFUSAL)]
)
async def test_a_spoilt_wording_has_the_defect_and_owns_up_to_it(
    tools: tuple[Tool, ...], ask: Ask, defect: str
):
    planted = 0
    for seed, tool, arguments in _drafts(tools):
        reply = await _wording(TemplateModel(error_rate={defect: 1.0}), tool, arguments, seed, ask)
        flawless = await _wording(TemplateModel(), tool, arguments, seed, ask)
        assert (reply.text != flawless.text) == bool(reply.planted)
        if not reply.planted:
            continue
        planted += 1
        assert reply.planted == defect
        request = SlottedRequest.model_validate_json(reply.text).request
        problem = wording_problem(request, slots_for(tool, arguments, seed), tool.language)
        assert ("Missing" in problem) == (defect == "missing_argument")
    assert planted > ROUNDS / 2


async def test_a_second_value_escapes_the_format_unless_it_has_digits(
    tools: tuple[Tool, ...], ask: Ask
):
    seen = Counter[bool]()
    for seed, tool, arguments in _drafts(tools):
        reply = await _wording(
            TemplateModel(error_rate={"wrong_argument": 1.0}), tool, arguments, seed, ask
        )
        if reply.planted:
            request = SlottedRequest.model_validate_json(reply.text).request
            seen[not wording_problem(request, slots_for(tool, arguments, seed), tool.language)] += 1
    assert seen[True] > 5
    assert seen[False] > 5


async def test_malformed_json_does_not_parse_and_a_refusal_is_prose(
    tools: tuple[Tool, ...], ask: Ask
):
    for seed, tool, arguments in _drafts(tools):
        broken = await _wording(
            TemplateModel(error_rate={MALFORMED_JSON: 1.0}), tool, arguments, seed, ask
        )
        assert broken.planted == MALFORMED_JSON
        with pytest.raises(orjson.JSONDecodeError):
            orjson.loads(broken.text)
        refused = await _wording(
            TemplateModel(error_rate={REFUSAL: 1.0}), tool, arguments, seed, ask
        )
        assert refused.planted == REFUSAL
        assert "{" not in refused.text


async def test_defects_come_as_often_as_told_and_one_at_a_time(tools: tuple[Tool, ...], ask: Ask):
    rates = {REFUSAL: 0.2, MALFORMED_JSON: 0.3}
    model, counts = TemplateModel(seed=9, error_rate=rates), Counter[str]()
    for seed in range(400):
        counts[(await _wording(model, tools[1], {}, seed, ask)).planted] += 1
    assert 50 <= counts[REFUSAL] <= 110
    assert 85 <= counts[MALFORMED_JSON] <= 155
    assert counts[""] == 400 - counts[REFUSAL] - counts[MALFORMED_JSON]
