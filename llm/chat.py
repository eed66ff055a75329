"""The one way to ask a language model: what a stage sees, and what an adapter must offer."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

from callwright.warehouse.records import Call, Record, Tool

Answer = TypeVar("Answer", bound=BaseModel)


Role = Literal["system", "user", "assistant"]


class ChatMessage(Record):
    """One message of a prompt."""

    role: Role
    content: str


class Prompt(Record):
    """Rendered messages; `version` is a hash of the template's text, so that an edited prompt is
    asked anew.

    `marks` are tagged lines that say to template/v1 what is wanted of it. No other model is sent
    them.
    """

    name: str
    version: str
    messages: tuple[ChatMessage, ...]
    marks: str = ""


def again(prompt: Prompt, reply: str, problem: str) -> Prompt:
    """The prompt with a reply that can't be used and what is wrong with it."""
    wish = ChatMessage(role="user", content=f"Your reply could not be used. {problem}")
    # Some providers refuse an assistant who says nothing.
    stated = (ChatMessage(role="assistant", content=reply),) if reply.strip() else ()
    return prompt.with_changes(messages=(*prompt.messages, *stated, wish))


class ChatRequest(NamedTuple):
    """What goes to an adapter: all that may change the answer, and nothing else.

    `marks` are for template/v1 alone.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    schema: dict[str, Any] | None  # JSON Schema of the answer, None for free text
    tools: tuple[Tool, ...]
    options: tuple[tuple[str, Any], ...]  # temperature, seed, …: sorted pairs, JSON values
    sample_index: int
    marks: str = ""


class RawReply(NamedTuple):
    """What an adapter gives back: the text, native tool calls (None where there are none), and what
    it cost.

    `is_cut` says that the model came to the most tokens that it may answer.

    `planted` names the defect that the template model was instructed to make here; it is kept in
    the ledger and never shown to a stage. `reasoning` is what the model thought before it answered,
    "" where its provider does not tell.
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
    """A vendor behind one call.

    Vendor errors leave it as TransientError, ReplyError or ConfigurationError.
    """

    async def send(self, request: ChatRequest) -> RawReply:
        """Ask once: no retries, no ledger, no limits."""
        ...

    async def close(self) -> None:
        """Give back connections and processes."""
        ...


class Completion(NamedTuple):
    """A candidate's reply in its own words: text, native tool calls where the provider has them,
    and what it thought before.

    `names` are those that tools had on the wire, where they were handed over natively, each with
    the tool's own name. The calls and the text may have either; whoever reads the calls puts the
    tools' own names in their place.
    """

    text: str
    calls: tuple[Call, ...] | None
    reasoning: str = ""
    names: Mapping[str, str] = MappingProxyType({})


class ChatModel(Protocol):
    """What a stage is handed for its role: a model with the ledger, limits and budget already
    around it.
    """

    @property
    def name(self) -> str:
        """The model's name as the recipe gives it."""
        ...

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        """The model's answer as `answer`; asked once more with the error where it does not parse.

        Raises ReplyError where it still does not, TransientError when retries are used up,
        BudgetError when money is. `sample_index` tells apart several answers to the same prompt.
        """
        ...

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        """The model's reply in free text; `tools` are handed over natively."""
        ...


class OpenedChat(ChatModel, Protocol):
    """A chat that whoever opened it closes."""

    async def close(self) -> None:
        """Give back connections; the ledger stays open."""
        ...
