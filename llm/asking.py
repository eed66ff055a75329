"""Asking a model, with ledger, limits, budget, strict parsing, one repair and a record."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import orjson
from pydantic import BaseModel

from callwright.llm.answers import parse_answer, validate_calls, validate_text
from callwright.llm.chat import Adapter, Answer, ChatRequest, Completion, Prompt, RawReply, again
from callwright.llm.copying import copied_words
from callwright.llm.ledger import Ledger, ledger_key
from callwright.llm.limits import Budget, Gate, Hedging, Traffic
from callwright.llm.prices import BYTES_PER_TOKEN, TokenCounts, TokenEstimates, say_unstated, size
from callwright.llm.stated_schemas import stated_schema
from callwright.warehouse.errors import CallwrightError, ReplyError, TransientError
from callwright.warehouse.records import LlmCall, Tool
from callwright.warehouse.wire_names import wire_names

Options = tuple[tuple[str, Any], ...]  # values of any JSON type
_REPLY_TOKENS = 512  # how long a reply is expected to be if there is no max_tokens
_NOTHING = RawReply("")
_CALLED_OFF = "Called off: another answer to the same request came first."


@runtime_checkable
class Priced(Protocol):
    """An adapter whose requests cost money."""

    async def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return what these tokens cost, in US dollars; 0 if the price is unknown."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """An adapter that knows its requests by ledger key, including those of an earlier process."""

    async def send_under(self, key: bytes, request: ChatRequest) -> RawReply:
        """Ask once, or wait for an earlier request with the same key."""
        ...


# Cached: each record gets chats of its own, and isinstance on a protocol is slow.
@cache
def _is_keyed(kind: type[Adapter]) -> bool:
    return issubclass(kind, Keyed)


@cache
def _is_priced(kind: type[Adapter]) -> bool:
    return issubclass(kind, Priced)


class Surroundings(NamedTuple):
    """The environment of one model, shared by all stages that ask it.

    `record` is called with every LlmCall as it ends. Without `hedging`, no request is sent twice
    for a faster answer. `tokens` is for models that cost money.
    """

    adapter: Adapter
    ledger: Ledger
    gate: Gate
    budget: Budget
    record: Callable[[LlmCall], object]
    build: str = ""
    hedging: Hedging | None = None
    traffic: Traffic | None = None
    tokens: TokenEstimates | None = None
    ready: Callable[[], Awaitable[None]] | None = None  # awaited before anything is sent
    overhear: "Callable[[Asking], object] | None" = (
        None  # called with each question before it is sent
    )


class Asking(NamedTuple):
    """What a stage asks: a prompt, and the schema of the answer, {} for free text."""

    stage: str
    prompt: Prompt
    schema: dict[str, Any]


class _RequestCost(NamedTuple):
    """What a request has cost so far, in US dollars, and how many seconds its last try took."""

    cost: float = 0.0
    latency: float = 0.0


class LedgeredChat:
    """A ChatModel that takes known answers from the ledger, and stores new ones before use."""

    def __init__(
        self,
        name: str,
        options: Options,
        around: Surroundings,
        *,
        stage: str = "",
        record: Callable[[LlmCall], object] | None = None,
    ) -> None:
        """Ask the model `name` with `options` (all that may change an answer) for `stage`.

        Calls go to `record` if it is given, else to the `record` of the surroundings.
        """
        self.name = name
        self._options = options
        self._around = around if around.tokens else around._replace(tokens=TokenEstimates(name))
        self._stage = stage
        self._record = record or around.record
        self._priced = cast("Priced", around.adapter) if _is_priced(type(around.adapter)) else None

    def for_stage(
        self, stage: str, record: Callable[[LlmCall], object] | None = None
    ) -> "LedgeredChat":
        """Return the same model with calls recorded under `stage`, and by `record` if given."""
        return LedgeredChat(
            self.name, self._options, self._around, stage=stage, record=record or self._record
        )

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        """Return the model's answer as `answer`, asking again if the reply does not parse.

        The second request shows the reply and the error, but no reply that repeats a worked
        example of the prompt, or that has no end. A reply that was cut off is first requested
        anew with room for twice as much.
        """
        schema, options = _schema_of(answer), self._options
        reply = await self._reply(prompt, schema, (), sample_index)
        try:
            return _own_answer(prompt, reply, answer)
        except ReplyError as error:
            failed = error
        if reply.is_cut:
            options = _with_more_room(options, reply)
            reply = await self._reply(prompt, schema, (), sample_index, options)
            try:
                return _own_answer(prompt, reply, answer)
            except ReplyError as error:
                failed = error
        shown, came = reply.text, str(failed).partition(" It begins: ")[0]
        if isinstance(failed, CopiedError) or reply.is_cut:
            shown, came = "", str(failed)
        prompt = again(prompt, shown, f"{came} Reply with one JSON object: {_members(answer)}.")
        reply = await self._reply(prompt, schema, (), sample_index, options)
        return _own_answer(prompt, reply, answer)

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        """Return the model's reply in free text; `tools` are passed natively."""
        reply = await self._reply(prompt, None, tuple(tools), sample_index)
        return Completion(reply.text, reply.calls, reply.reasoning, wire_names(tools))

    async def close(self) -> None:
        """Close the adapter's connections; the ledger stays open for other users."""
        await self._around.adapter.close()

    async def _reply(
        self,
        prompt: Prompt,
        schema: tuple[dict[str, Any], str] | None,
        tools: tuple[Tool, ...],
        sample_index: int,
        options: Options | None = None,
    ) -> RawReply:
        document, text = schema or (None, "")
        if self._around.overhear is not None:
            self._around.overhear(Asking(self._stage, prompt, document or {}))
        options = options or self._options
        request = ChatRequest(
            self.name, prompt.messages, document, tools, options, sample_index, prompt.marks
        )
        key = ledger_key(request, prompt, text)
        most_tokens = int(dict(request.options).get("max_tokens") or _REPLY_TOKENS)
        sending = _Sending(self._around, self._stage, self._priced, request, most_tokens, key)
        is_noted = False

        async def send() -> RawReply:
            """Send, and note the call before its answer is kept, so that a kill can't lose it."""
            nonlocal is_noted
            reply = await sending.send()
            for spent in sending.called_off:
                self._note(key, prompt, sample_index, spent=spent, error=_CALLED_OFF)
            self._note(key, prompt, sample_index, reply=reply, spent=sending.spent)
            is_noted = True
            return reply

        try:
            reply, is_known = await self._around.ledger.answer(key, send)
        except CallwrightError as error:
            if sending.tries and not is_noted:
                for spent in sending.called_off:
                    self._note(key, prompt, sample_index, spent=spent, error=_CALLED_OFF)
                self._note(key, prompt, sample_index, spent=sending.spent, error=str(error))
            raise
        if is_known:
            known = _NOTHING._replace(planted=reply.planted)
            self._note(key, prompt, sample_index, reply=known, spent=_RequestCost(), cached=True)
        validate_text(reply.text)
        validate_calls(reply.calls or ())
        return reply

    def _note(  # noqa: PLR0913 - one argument for each thing that differs between calls
        self,
        key: bytes,
        prompt: Prompt,
        sample_index: int,
        *,
        reply: RawReply = _NOTHING,
        spent: _RequestCost,
        cached: bool = False,
        error: str = "",
    ) -> None:
        call = LlmCall(
            request=key.hex(),
            build=self._around.build,
            stage=self._stage,
            model=self.name,
            prompt_version=prompt.version,
            sample_index=sample_index,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cost=spent.cost,
            latency=spent.latency,
            cached=cached,
            planted=reply.planted,
            error=error,
        )
        self._record(call)


@dataclass
class _Sending:
    """One request passing through limits and budget: how often it was sent, and what was spent.

    With a budget, the most that a request may cost is reserved: its prompt by the model's
    tokenizer plus the longest reply, from `max_tokens` or else from the model. A request that
    was sent but brought no answer (it timed out, was cut off, or another answer came first) may
    still be charged, so its reservation counts as its cost; without a budget, its prompt counts
    at four bytes a token, plus 512 tokens if there is no `max_tokens`. Batches are the
    exception: asking again waits for the same batch. If an answer comes without a token count,
    the tokens are estimated here.
    """

    around: Surroundings
    stage: str
    priced: Priced | None
    request: ChatRequest
    most_tokens: int
    key: bytes
    tries: int = 0
    spent: _RequestCost = field(default_factory=_RequestCost)
    # the tries that another answer forestalled, each for itself
    called_off: list[_RequestCost] = field(default_factory=list)
    prompt_tokens: int = 0
    expected: TokenCounts | None = None

    async def send(self) -> RawReply:
        """Send the request through the gate."""
        if self.around.ready is not None:
            await self.around.ready()
        letters = sum(size(message.text) for message in self.request.messages)
        self.prompt_tokens = letters // BYTES_PER_TOKEN
        tokens = self.prompt_tokens + self.most_tokens
        gate, hedging = self.around.gate, self.around.hedging
        if hedging is None:
            return await gate.run(self._try, tokens)
        once = partial(gate.once, tokens=tokens)
        return await gate.persist(lambda: hedging.first_good(once, self._try))

    async def _try(self, sent: Callable[[], object] | None = None) -> RawReply:
        estimate = await self._set_aside()
        self.tries += 1
        if sent is not None:
            sent()
        ended: RawReply | BaseException | None = None  # None after a bug
        start = time.perf_counter()
        try:
            ended = reply = await self._with_usage(await self._counted())
        except (CallwrightError, asyncio.CancelledError) as error:
            ended = error
            raise
        finally:
            self._settle(estimate, time.perf_counter() - start, ended)
        # A JSON escape such as \ud83d is half a character, which UTF-8 can't hold: replace it.
        text = reply.text if reply.text.isascii() else reply.text.encode(errors="replace").decode()
        return reply._replace(text=text)

    async def _set_aside(self) -> float:
        if self.priced is None:
            return 0.0
        # Called only within a slot of the gate, so that a waiting request reserves no money.
        most = TokenCounts(self.prompt_tokens, self.most_tokens)
        if self.around.budget.limit is not None:
            most = self.expected = await self._tokens.most(self.request)
        estimate = await self.priced.price(most.prompt, most.reply)
        await self.around.budget.reserve(estimate)
        return estimate

    @property
    def _tokens(self) -> TokenEstimates:
        return self.around.tokens or TokenEstimates(self.request.model)

    async def _with_usage(self, reply: RawReply) -> RawReply:
        """Return the reply with its usage, estimated here if the provider states none."""
        if self.priced is None:
            return reply
        if reply.prompt_tokens > 0:
            if self.expected is not None:
                self._tokens.learn(self.expected.counted, reply.prompt_tokens)
            return reply
        say_unstated(self.request.model)
        took = await self._tokens.of(self.request, reply)
        cost = await self.priced.price(took.prompt, took.reply)
        return reply._replace(prompt_tokens=took.prompt, completion_tokens=took.reply, cost=cost)

    def _settle(
        self, estimate: float, latency: float, ended: RawReply | BaseException | None
    ) -> None:
        """Count what a try has cost, whether it ended in an answer or an error."""
        is_called_off = isinstance(ended, asyncio.CancelledError)
        failed = isinstance(ended, TransientError | ReplyError) and ended.may_be_charged
        cost = estimate if is_called_off or failed else 0.0
        if isinstance(ended, RawReply):
            cost = ended.cost
        elif _is_keyed(type(self.around.adapter)):
            cost = 0.0
        if is_called_off:
            self.called_off.append(_RequestCost(cost, latency))
        else:
            self.spent = _RequestCost(self.spent.cost + cost, latency)
        if self.around.traffic is not None:
            self.around.traffic.cost += cost
            if isinstance(ended, RawReply):
                self.around.traffic.tokens += ended.prompt_tokens + ended.completion_tokens
        if self.priced is not None:
            self.around.budget.settle(estimate, cost)

    async def _counted(self) -> RawReply:
        traffic = self.around.traffic
        if traffic is None:
            return await self._adapted()
        with traffic.request(self.stage, self.request.model):
            return await self._adapted()

    def _adapted(self) -> Awaitable[RawReply]:
        adapter = self.around.adapter
        if _is_keyed(type(adapter)):
            return cast("Keyed", adapter).send_under(self.key, self.request)
        return adapter.send(self.request)


def _with_more_room(options: Options, reply: RawReply) -> Options:
    """Return the options with room for a reply twice as long as the truncated one."""
    known = dict(options)
    most = int(known.get("max_tokens") or reply.completion_tokens or _REPLY_TOKENS)
    return tuple(sorted({**known, "max_tokens": 2 * most}.items()))


class CopiedError(ReplyError):
    """A reply that repeats a worked example of its prompt."""


def _own_answer(prompt: Prompt, reply: RawReply, answer: type[Answer]) -> Answer:
    """Return a reply parsed as `answer`. Raise ReplyError if it can't be, or copies an example."""
    parsed = parse_answer(reply.text, answer, is_cut=reply.is_cut)
    words = copied_words(prompt, parsed.model_dump(mode="json"))
    if words:
        raise CopiedError(
            f"The reply repeats the worked example ({words!r}). Answer for what is given instead."
        )
    return parsed


@cache
def _schema_of(answer: type[BaseModel]) -> tuple[dict[str, Any], str]:
    """Return a JSON Schema and its text."""
    document = stated_schema(answer)
    return document, orjson.dumps(document).decode()


@cache
def _members(answer: type[BaseModel]) -> str:
    return ", ".join(_schema_of(answer)[0].get("properties", {}))
