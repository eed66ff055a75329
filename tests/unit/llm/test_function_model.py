"""Python functions as models: whatever they give is a reply, or a ReplyError with its reason."""

from typing import Any

import pytest

from callwright.llm.answers import DEEPEST
from callwright.llm.chat import Completion, Prompt
from callwright.llm.function_model import FunctionModel
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, LlmCall


def nested(depth: int, inside: Any = 1) -> Any:
    for _ in range(depth):
        inside = {"a": inside}
    return inside


def in_itself() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


async def answer_of(given: Any) -> Completion:
    kept: list[LlmCall] = []
    model = FunctionModel("mine", lambda _messages, _tools: given, kept.append, "evaluate")
    try:
        return await model.complete(Prompt(name="", version="", messages=()))
    finally:
        assert len(kept) == 1


@pytest.mark.parametrize(
    "given",
    [
        [("f", nested(5_000))],
        [{"name": "f", "arguments": nested(5_000)}],
        [Call.model_construct(tool="f", arguments=nested(5_000))],
        nested(5_000),
        [nested(5_000)],
        {"content": nested(5_000)},
        {"tool_calls": [{"function": {"name": "f", "arguments": nested(5_000)}}]},
        in_itself(),
        [("f", {"a": in_itself()})],
    ],
)
async def test_an_answer_nested_too_deeply_is_a_failure_with_its_reason(given: Any) -> None:
    with pytest.raises(
        ReplyError, match=f"mine gave an answer that is nested more than {DEEPEST} deep"
    ):
        await answer_of(given)


@pytest.mark.parametrize(
    "arguments",
    [
        {"a": 10**30},
        {"a": [float("nan")]},
        {"a": float("inf")},
        {"a": {1, 2}},
        '{"a": ' + "1" * 30 + "}",
        '{"a": NaN}',
        "[1]",
        "x",
    ],
)
async def test_what_can_not_be_kept_exactly_is_a_failure(arguments: Any) -> None:
    with pytest.raises(ReplyError, match=r"^mine gave|64 bits"):
        await answer_of([{"name": "f", "arguments": arguments}])


async def test_an_answer_without_end_is_a_failure() -> None:
    with pytest.raises(ReplyError, match="an answer of more than 400000 values"):
        await answer_of([("f", {"a": [0] * 500_000})])


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ([("f", nested(90))], nested(90)),
        (
            [{"function": {"name": "f", "arguments": '{"a": [1, 2.5, null]}'}}],
            {"a": [1, 2.5, None]},
        ),
        ([{"function": {"name": "f", "arguments": ""}}], {}),
        (Call(tool="f", arguments={"a": 2**64 - 1}), {"a": 2**64 - 1}),
    ],
)
async def test_an_answer_within_the_bounds_is_read(given: Any, arguments: Any) -> None:
    assert (await answer_of(given)).calls == (Call(tool="f", arguments=arguments),)
