"""Several requests in one: those with equal instructions and answer type, asked at one moment.

Each gets its own answer, and the ledger keeps it under the request's own key. A request without
an answer in the joint reply is asked by itself.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from callwright.llm.answers import read_object
from callwright.llm.asking import Priced
from callwright.llm.chat import Adapter, ChatMessage, ChatRequest, RawReply
from callwright.llm.ledger import refuse
from callwright.warehouse.errors import CallwrightError, ReplyError

MOMENT = 0.02  # seconds that the first request waits for others like it
_MARK = "</case"
_NOTHING = RawReply("")
_WISH = """

Answer each of the cases, between <case number="…"> and </case>, as if it were the only one, with its number."""  # noqa: E501


class _PackedQuestion(NamedTuple):
    request: ChatRequest
    answer: asyncio.Future[RawReply]


class PackedModel:
    """A model that gets up to `most` requests at once; a single request is sent unchanged."""

    def __init__(self, adapter: Adapter, most: int) -> None:
        """Ask through `adapter`."""
        self._adapter = adapter
        self._most = most
        self._gathered: dict[object, list[_PackedQuestion]] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    async def send(self, request: ChatRequest) -> RawReply:
        """Return the answer to one request, possibly taken from a reply to several."""
        alike = _kind_of(request)
        if alike is None:
            return await self._adapter.send(request)
        loop = asyncio.get_running_loop()
        question = _PackedQuestion(request, loop.create_future())
        gathered = self._gathered.setdefault(alike, [])
        gathered.append(question)
        if len(gathered) == 1:
            loop.call_later(MOMENT, self._go, alike, gathered)
        if len(gathered) >= self._most:
            self._go(alike, gathered)
        return await asyncio.shield(question.answer)

    async def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of tokens, 0 if unknown; shared instructions are counted for each."""
        if isinstance(self._adapter, Priced):
            return await self._adapter.price(prompt_tokens, completion_tokens)
        return 0.0

    async def close(self) -> None:
        """Close the adapter and cancel the requests in progress."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._adapter.close()

    def _go(self, alike: object, gathered: list[_PackedQuestion]) -> None:
        if self._gathered.get(alike) is not gathered:
            return  # gone already, because it was full
        del self._gathered[alike]
        task = asyncio.create_task(self._ask(gathered))
        self._under_way.add(task)
        task.add_done_callback(lambda task: self._end(task, gathered))

    def _end(self, task: asyncio.Task[None], asked: Sequence[_PackedQuestion]) -> None:
        """Fail all waiting requests if the task ended in an unexpected error."""
        self._under_way.discard(task)
        if not task.cancelled() and (bug := task.exception()) is not None:
            for one in asked:
                refuse(one.answer, bug)

    async def _ask(self, asked: Sequence[_PackedQuestion]) -> None:
        replies: dict[int, RawReply] = {}
        spent = _NOTHING
        if len(asked) > 1:
            try:
                spent = await self._adapter.send(_pack([one.request for one in asked]))
                replies = _unpack(spent, len(asked))
            except ReplyError:
                pass  # one of them may be at fault: each is asked by itself
            except CallwrightError as error:
                for question in asked:
                    refuse(question.answer, error)
                return
        for number, reply in replies.items():
            asked[number].answer.set_result(reply)
        left = [one for number, one in enumerate(asked) if number not in replies]
        # A reply of no use was paid for all the same: it is counted with the first request that
        # goes alone.
        extra = [_NOTHING if replies else spent, *[_NOTHING] * len(left)]
        alone = (self._ask_alone(one, more) for one, more in zip(left, extra, strict=False))
        await asyncio.gather(*alone)

    async def _ask_alone(self, one: _PackedQuestion, more: RawReply) -> None:
        try:
            reply = await self._adapter.send(one.request)
        except CallwrightError as error:
            refuse(one.answer, error)
            return
        one.answer.set_result(
            reply._replace(
                prompt_tokens=reply.prompt_tokens + more.prompt_tokens,
                completion_tokens=reply.completion_tokens + more.completion_tokens,
                cost=reply.cost + more.cost,
            )
        )


def _kind_of(request: ChatRequest) -> object:
    """Return what requests must share to be asked together; None if this one must go alone."""
    roles = [message.role for message in request.messages]
    if request.schema is None or request.tools or roles != ["system", "user"]:
        return None
    if _MARK in request.messages[1].content:
        return None
    return request.messages[0].content, orjson.dumps(request.schema), request.sample_index


def _pack(requests: Sequence[ChatRequest]) -> ChatRequest:
    first = requests[0]
    cases = "\n".join(
        f'<case number="{number}">\n{request.messages[1].content}\n</case>'
        for number, request in enumerate(requests, 1)
    )
    messages = (
        ChatMessage(role="system", content=first.messages[0].content + _WISH),
        ChatMessage(role="user", content=cases),
    )
    times = {"max_tokens": len(requests)}
    options = tuple(
        (name, value * times[name] if name in times else value) for name, value in first.options
    )
    return first._replace(messages=messages, schema=_schema_of(first.schema or {}), options=options)


def _schema_of(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of several such answers, with shared definitions at its top level."""
    one = {name: value for name, value in answer.items() if name != "$defs"}
    numbered = {
        "type": "object",
        "properties": {"case": {"type": "integer"}, "answer": one},
        "required": ["case", "answer"],
    }
    whole = {
        "title": "Answers",
        "type": "object",
        "properties": {"answers": {"type": "array", "items": numbered}},
        "required": ["answers"],
    }
    return whole | ({"$defs": answer["$defs"]} if "$defs" in answer else {})


def _unpack(reply: RawReply, count: int) -> dict[int, RawReply]:
    """Return the answers by index, sharing tokens and cost; a case answered twice has none."""
    try:
        listed = read_object(reply.text)["answers"]
        numbered_answers = [
            (one["case"] - 1, orjson.dumps(one["answer"]).decode()) for one in listed
        ]
    except (ReplyError, KeyError, TypeError):
        return {}
    often = Counter(number for number, _ in numbered_answers)
    single = (one for one in numbered_answers if often[one[0]] == 1)
    answers = {number: text for number, text in single if 0 <= number < count}
    replies: dict[int, RawReply] = {}
    for at, (number, text) in enumerate(answers.items()):
        share = partial(_share, at=at, of=len(answers))
        tokens = (share(reply.prompt_tokens), share(reply.completion_tokens))
        replies[number] = RawReply(text, None, *tokens, reply.cost / len(answers), reply.planted)
    return replies


def _share(tokens: int, at: int, of: int) -> int:
    return tokens // of + (1 if at < tokens % of else 0)
