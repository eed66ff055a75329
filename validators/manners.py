"""How candidates are asked: in which notation, and for all of an answer at once or piece by piece (CallNavi 4, 6.4)."""

from typing import Literal, NamedTuple, get_args

from llm.prompts import prompt_version
from validators.proposals import PROMPTS

Strategy = Literal["direct", "route_then_fill", "backward"]
Format = Literal["json", "yaml"]
Setting = Literal["call", "plan", "conversation"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
ONE_CALL = "answer_as_candidate"
CALLS = "answer_with_calls"
NAMES = "name_needed_tools"
LAST = "call_last"
BEFORE = "calls_before"
_TEMPLATES: dict[Strategy, tuple[str, ...]] = {
    "direct": (CALLS,),
    "route_then_fill": (NAMES, CALLS),
    "backward": (LAST, BEFORE),
}
PLANNED, SPOKEN = "routing_", "conversation"


class Manner(NamedTuple):
    """A strategy, a notation for tools and answers, and the model that chooses the tools, "" where the candidate does."""

    strategy: Strategy = "direct"
    format: Format = "json"
    router: str = ""

    @property
    def label(self) -> str:
        """What predictions and scores are kept under: "direct", "backward/yaml", "route_then_fill(openai/x)"."""
        routed = f"({self.router})" if self.router else ""
        return f"{self.strategy}{routed}" + ("" if self.format == "json" else f"/{self.format}")

    @property
    def version(self) -> str:
        """The versions of all prompts that candidates may see."""
        return "+".join(prompt_version(PROMPTS, name) for name in (ONE_CALL, *_TEMPLATES[self.strategy]))


def format_of(label: str) -> Format:
    """The notation of answers that are kept under this label."""
    return "yaml" if label.endswith("/yaml") else "json"


def setting_of(kind: str) -> Setting:
    """What samples of a kind ask for: one call, a plan of calls none of which is carried out, or the next turn."""
    if kind.startswith(PLANNED):
        return "plan"
    return "conversation" if kind.startswith(SPOKEN) else "call"
