"""The one way to ask a language model: what a stage sees, and what an adapter must offer."""

from collections.abc import Sequence
from operator import not_
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, Field

from callwright.warehouse.records import Call, Record, Tool
from callwright.warehouse.wire_names import NO_NAMES, WireNames

Answer = TypeVar("Answer", bound=BaseModel)


Role = Literal["system", "user", "assistant", "tool"]


class ChatMessage(Record):
    """One message of a prompt.

    The `calls` of an assistant's message are answered by the tool messages behind it, in order.
    """

    role: Role
    content: str
    calls: tuple[Call, ...] = Field(default=(), exclude_if=not_)

    @property
    def text(self) -> str:
        """All that a model reads of it: the content, and the calls as JSON."""
        return "\n".join((self.content, *(one.model_dump_json() for one in self.calls)))


class Prompt(Record):
    """Rendered messages and `version`, the template text's hash: an edited prompt is asked anew.

    `marks` are tagged lines that tell template/v1 what is wanted. No other model gets them.
    """

    name: str
    version: str
    messages: tuple[ChatMessage, ...]
    marks: str = ""


REFUSED = "Your reply can't be used."


def again(prompt: Prompt, reply: str, problem: str) -> Prompt:
    """Return the prompt followed by an unusable reply and what is wrong with it.

    A reply that is "" is not shown. Nor is one that the prompt shows already: a model that has
    repeated itself would do so again.
    """
    is_shown = any(one.role == "assistant" and one.content == reply for one in prompt.messages)
    reply = "" if is_shown else reply
    wish = ChatMessage(role="user", content=f"{REFUSED} {problem}")
    if reply.strip():
        stated = ChatMessage(role="assistant", content=reply)
        return prompt.with_changes(messages=(*prompt.messages, stated, wish))
    # Some providers refuse an assistant who says nothing, or a user who speaks twice.
    *before, last = prompt.messages
    asked = last.with_changes(content=f"{last.content}\n\n{wish.content}")
    return prompt.with_changes(messages=(*before, asked))


class ChatRequest(NamedTuple):
    """What an adapter receives: everything that may change the answer, and nothing else.

    Only template/v1 uses `marks`.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    schema: dict[str, Any] | None  # JSON Schema of the answer, None for free text
    tools: tuple[Tool, ...]
    options: tuple[tuple[str, Any], ...]  # temperature, seed, …: sorted pairs, JSON values
    sample_index: int
    marks: str = ""


_BYTES_A_TOKEN = 4
READ_AS_FAST = 5  # how many tokens of a prompt are read while one of a reply is written
LONGEST_REPLY = 1024  # tokens, where the recipe sets no max_tokens and the server no limit


def seconds_for(request: ChatRequest, timeout: float, slowest: float | None) -> float:
    """Return after how many seconds a request has failed.

    With `slowest`, in tokens a second of a reply, the time-out grows with the prompt's length and
    the longest reply, so that a slow server is not taken for one that hangs.
    """
    if slowest is None:
        return timeout
    prompt = sum(len(message.content.encode()) for message in request.messages) / _BYTES_A_TOKEN
    reply: int = dict(request.options).get("max_tokens", LONGEST_REPLY)
    return timeout + (prompt / READ_AS_FAST + reply) / slowest


class RawReply(NamedTuple):
    """What an adapter returns: text, native tool calls (None if there are none), and cost.

    `is_cut` says that the model reached the maximum number of tokens of its answer.

    `planted` names the defect that the template model was told to make here; it is kept in the
    ledger and never shown to a stage. `reasoning` is what the model thought before it answered,
    "" if its provider does not say.
    """

    text: str
    calls: tuple[Call, ...] | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    planted: str = ""
    is_cut: bool = False
    reasoning: str = ""


class Adapter(Protocol):
    """A vendor behind a single call.

    It raises vendor errors as TransientError, ReplyError or ConfigurationError.
    """

    async def send(self, request: ChatRequest) -> RawReply:
        """Ask once: no retries, no ledger, no limits."""
        ...

    async def close(self) -> None:
        """Close connections and processes."""
        ...


class Completion(NamedTuple):
    """A candidate's reply: text, native tool calls if the provider has them, and reasoning.

    `names` are those that natively passed tools and their parameters had on the wire. The calls and
    the text may use either; code that reads the calls restores the own names.
    """

    text: str
    calls: tuple[Call, ...] | None
    reasoning: str = ""
    names: WireNames = NO_NAMES


class ChatModel(Protocol):
    """What a stage gets for its role: a model with ledger, limits and budget around it."""

    @property
    def name(self) -> str:
        """The model's name in the recipe."""
        ...

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        """Return the model's answer as `answer`; if it does not parse, ask again with the error.

        Raises ReplyError if it still does not parse, TransientError if retries run out,
        BudgetError if money does. `sample_index` tells apart answers to the same prompt.
        """
        ...

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        """Return the model's reply in free text; `tools` are passed natively."""
        ...


class OpenedChat(ChatModel, Protocol):
    """A chat that its opener must close."""

    async def close(self) -> None:
        """Close connections; the ledger stays open."""
        ...
