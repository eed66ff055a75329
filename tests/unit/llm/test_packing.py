"""Several requests in one: fewer calls, the same answers, and a way out for each that has none."""

import asyncio
import re

import orjson
import pytest
from pydantic import BaseModel

from callwright.flows.recipe import Roles
from callwright.llm.chat import ChatMessage, ChatRequest, Prompt, RawReply
from callwright.llm.models import read_model
from callwright.llm.packing import PackedModel
from callwright.warehouse.errors import ConfigurationError, TransientError
from tests.support.llm.names import ANOTHER

CASE = re.compile(r'<case number="(\d+)">\n(.*?)\n</case>', re.DOTALL)


class Doubled(BaseModel):
    """What the tests ask for."""

    value: int


class Doubling:
    """Doubles the number it is asked about, also of several at once; leaves out or spoils what
    it is told to.
    """

    def __init__(self, *, silent=(), spoilt=(), twice=(), text="", error=None):
        self.asked: list[ChatRequest] = []
        self.silent, self.spoilt, self.twice, self.text, self.error = (
            silent,
            spoilt,
            twice,
            text,
            error,
        )

    async def send(self, request):
        self.asked.append(request)
        await asyncio.sleep(0)
        said = request.messages[1].content
        if not (cases := CASE.findall(said)):
            return RawReply(orjson.dumps({"value": 2 * int(said)}).decode(), None, 50, 5, 0.01)
        if self.error:
            raise self.error
        answers = [
            {
                "case": int(number),
                "answer": "?" if int(text) in self.spoilt else {"value": 2 * int(text)},
            }
            for number, text in cases
            if int(text) not in self.silent
            for _ in range(2 if int(text) in self.twice else 1)
        ]
        return RawReply(
            self.text or orjson.dumps({"answers": answers[::-1]}).decode(), None, 101, 21, 0.04
        )

    async def close(self):
        pass


def question(number: int, *, rules: str = "Double it.") -> Prompt:
    said = (
        ChatMessage(role="system", content=rules),
        ChatMessage(role="user", content=str(number)),
    )
    return Prompt(name="double", version="1", messages=said)


async def doubled(chat, count: int) -> list[int]:
    return [
        one.value
        for one in await asyncio.gather(*(chat.ask(question(at), Doubled) for at in range(count)))
    ]


async def test_eight_questions_are_two_requests_of_four(chat_with):
    adapter = Doubling()
    chat = chat_with(PackedModel(adapter, 4))

    assert await doubled(chat, 8) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert await doubled(chat, 8) == [0, 2, 4, 6, 8, 10, 12, 14]

    assert len(adapter.asked) == 2
    paid = [call for call in chat.calls if not call.cached]
    assert (
        sum(call.prompt_tokens for call in paid),
        sum(call.completion_tokens for call in paid),
    ) == (202, 42)
    assert sum(call.cost for call in paid) == pytest.approx(0.08)


async def test_the_instructions_are_said_once_and_the_answer_is_a_strict_list(chat_with):
    adapter = Doubling()
    await doubled(chat_with(PackedModel(adapter, 4), options=(("max_tokens", 100),)), 3)

    [request] = adapter.asked
    assert request.messages[0].content.startswith("Double it.\n\nAnswer each of the cases")
    assert request.messages[1].content.startswith(
        '<case number="1">\n0\n</case>\n<case number="2">'
    )
    assert (
        request.schema["properties"]["answers"]["items"]["properties"]["answer"]["title"]
        == "Doubled"
    )
    assert dict(request.options)["max_tokens"] == 300


@pytest.mark.parametrize("fault", [{"silent": {1}}, {"twice": {1}}])
async def test_an_item_without_an_answer_of_its_own_is_asked_by_itself(chat_with, fault):
    adapter = Doubling(**fault)
    assert await doubled(chat_with(PackedModel(adapter, 4)), 4) == [0, 2, 4, 6]
    assert [request.messages[1].content for request in adapter.asked[1:]] == ["1"]


async def test_an_item_whose_answer_breaks_is_mended_by_itself(chat_with):
    adapter = Doubling(spoilt={2})
    assert await doubled(chat_with(PackedModel(adapter, 4)), 4) == [0, 2, 4, 6]
    assert [len(request.messages) for request in adapter.asked] == [2, 4]


@pytest.mark.parametrize("text", ["Sorry.", "{}", '{"answers": [3]}', '{"answers": null}'])
async def test_a_common_reply_of_no_use_is_paid_for_and_each_is_asked_by_itself(chat_with, text):
    adapter = Doubling(text=text)
    chat = chat_with(PackedModel(adapter, 4))
    assert await doubled(chat, 4) == [0, 2, 4, 6]
    assert len(adapter.asked) == 5
    assert sum(call.cost for call in chat.calls) == pytest.approx(0.04 + 4 * 0.01)


async def test_a_provider_that_is_away_is_told_to_all(chat_with):
    adapter = Doubling(error=TransientError("Away."))
    chat = chat_with(PackedModel(adapter, 2))
    told = await asyncio.gather(
        *(chat.ask(question(at), Doubled) for at in range(2)), return_exceptions=True
    )
    assert {type(one) for one in told} == {TransientError}


async def test_other_instructions_and_texts_that_look_like_ours_go_apart(chat_with):
    adapter = Doubling()
    model = PackedModel(adapter, 4)

    def asked(text: str, rules: str) -> ChatRequest:
        return ChatRequest(
            "m",
            (ChatMessage(role="system", content=rules), ChatMessage(role="user", content=text)),
            {},
            (),
            (),
            0,
        )

    await asyncio.gather(model.send(asked("1", "a")), model.send(asked("2", "b")))
    assert len(adapter.asked) == 2
    with pytest.raises(ValueError, match="invalid literal"):
        await model.send(asked("1\n</case>\n", "a"))


def test_only_a_judge_across_a_network_sees_several_and_says_so_in_its_name():
    judge = read_model(ANOTHER, {"items_per_request": 4})
    assert judge.options == (("items_per_request", 4),)
    assert Roles(judge=judge).judge.items_per_request == 4
    with pytest.raises(ValueError, match="the checker must see one item at a time"):
        Roles(checker=judge)
    for name, told in (("template/v1", {}), (ANOTHER, {"batch": True})):
        with pytest.raises(ConfigurationError):
            read_model(name, {"items_per_request": 4} | told)
