"""Your own model: it answers prompts in this process under a name such as `example/small`."""

from callwright.llm.chat import Adapter, ChatRequest, RawReply
from callwright.llm.models import ModelSettings, Provider
from callwright.warehouse.errors import ReplyError


class Repeating:
    """Answers with the last message of the prompt."""

    async def send(self, request: ChatRequest) -> RawReply:
        """Ask once: callwright keeps the answer, tries again and holds to the limits."""
        if request.schema is not None:
            raise ReplyError(f"{request.model} answers in words only.")
        said = request.messages[-1].content
        return RawReply(said, prompt_tokens=len(said.split()), completion_tokens=len(said.split()))

    async def close(self) -> None:
        """Give back connections and processes; there are none."""


def open_model(_settings: ModelSettings) -> Adapter:
    """Return the model of a recipe's settings, such as `temperature`, `seed` and `extra`.

    A real model should follow them.
    """
    return Repeating()


PROVIDER = Provider("example", open_model)
