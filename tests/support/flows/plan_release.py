"""A release of plans, none of whose calls is carried out, and of a conversation whose calls
were.
"""

from collections.abc import Sequence
from typing import Any

from callwright.flows.settings import Settings
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
)
from callwright.warehouse.releases import freeze
from tests.support.flows.small_builds import warehouse_of


def tool(
    name: str, about: str, returns: dict[str, Any] | None = None, /, **properties: Any
) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    returned = {"type": "object", "properties": returns} if returns else None
    return Tool(name=name, description=about, parameters=schema, category="Spa", returns=returned)


GUEST_ID = {"type": "string", "pattern": "^G[0-9]{3}$", "description": "The guest's number"}
FIND = tool(
    "find_guest",
    "Find a guest.",
    {"guest_id": GUEST_ID},
    name={
        "type": "string",
        "description": "The guest's name",
        "examples": ["Ida Berg", "Ola Lien"],
    },
)
SAUNA = tool(
    "book_sauna",
    "Book the sauna.",
    guest_id=GUEST_ID,
    hour={"type": "integer", "description": "The hour"},
)
POOL = tool("close_pool", "Close the pool.", reason={"type": "string", "enum": ["storm", "repair"]})
TOOLS = (FIND, SAUNA, POOL)


def call(name: str, /, **arguments: Any) -> GoldCall:
    return GoldCall(tool=name, arguments=arguments)


def plan(difficulty: str, request: str, *calls: GoldCall) -> Sample:
    return Sample(
        kind=f"routing_{difficulty}",
        language="en",
        category="Spa",
        candidates=tuple(one.key for one in TOOLS),
        turns=(UserTurn(text=request), CallTurn(calls=calls)),
        facts=SampleFacts(difficulty=difficulty),
    )


EASY = plan("easy", "Close the pool; the reason is storm.", call("close_pool", reason="storm"))
MEDIUM = plan(
    "medium",
    "Book the sauna for the guest's number G123; the hour is 7. Then close the pool; the reason is"
    " repair.",
    call("book_sauna", guest_id="G123", hour=7),
    call("close_pool", reason="repair"),
)
HARD = plan(
    "hard",
    "Find a guest; the guest's name is Ida Berg. Then book the sauna; the hour is 9.",
    call("find_guest", name="Ida Berg"),
    call("book_sauna", guest_id="$$$", hour=9),
)
PLANS = (EASY, MEDIUM, HARD)
TALK = Sample(
    kind="conversation",
    language="en",
    category="Spa",
    candidates=tuple(one.key for one in TOOLS),
    turns=(
        UserTurn(text="I'd like the sauna."),
        ReplyTurn(text="Who is it for?", acts=("seek",)),
        UserTurn(text="For Ida Berg, at nine."),
        CallTurn(calls=(call("find_guest", name="Ida Berg"),), executed=True),
        ResultTurn(results=({"guest_id": "G777"},)),
        CallTurn(calls=(call("book_sauna", guest_id="G777", hour=9),), executed=True),
        ResultTurn(results=({"booked": True},)),
        ReplyTurn(text="It's yours at nine.", acts=("inform",)),
    ),
)


def release(
    settings: Settings, *samples: Sample, name: str = "v1", tools: Sequence[Tool] = TOOLS
) -> None:
    """Freeze the samples under a name."""
    warehouse = warehouse_of(settings)
    warehouse.put([*tools, *samples])
    freeze(warehouse, name, sorted(one.key for one in samples))
