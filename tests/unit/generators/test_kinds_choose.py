"""Whatever the kind, a plan chooses no plumbing, and no call that gives less than its tool
wants.
"""

import json
from typing import Any

import pytest

from callwright.generators.environments.document_world import DocumentWorld
from callwright.generators.environments.endpoints import endpoints_of
from callwright.generators.families import Order
from callwright.generators.kinds import all_kinds
from callwright.generators.parallel import PARALLEL
from callwright.generators.parallel.making import plan_parallel
from callwright.generators.routing.making import plan_routing
from callwright.warehouse.records import Tool

TEXT = {"type": "string"}
MASK = "opt_mask"


def tool(name: str, **more: Any) -> Tool:
    properties = {f"{name}_city": TEXT, MASK: TEXT, "note": TEXT}
    schema = {"type": "object", "properties": properties, "required": [f"{name}_city"], **more}
    return Tool(
        name=name,
        description=f"Does {name}.",
        category="Town",
        source="openapi",
        parameters=schema,
        plumbing=(MASK,),
    )


TOOLS = (
    tool("paint", minProperties=2),
    tool("sell", minProperties=2),
    tool("lend", minProperties=2),
    tool("mend", minProperties=2),
)


def calls(kind: str) -> list[dict[str, Any]]:
    if kind == PARALLEL:
        plans = list(plan_parallel(Order(all_kinds()[PARALLEL], "en", "", 40, TOOLS, seed=1)))
    else:
        plans = list(plan_routing(Order(all_kinds()[kind], "en", "Town", 40, TOOLS, seed=1)))
    return [json.loads(call.model_dump_json()) for plan in plans for call in plan.calls]


@pytest.mark.parametrize("kind", [PARALLEL, "routing_easy", "routing_medium"])
def test_plans_of_several_calls_choose_no_plumbing_and_give_enough(kind: str) -> None:
    assert {frozenset(call["arguments"]) for call in calls(kind)} == {
        frozenset({f"{one.name}_city", "note"}) for one in TOOLS
    }


def test_a_world_of_a_document_says_no_plumbing() -> None:
    world = DocumentWorld(
        "town", endpoints_of(TOOLS, [("post", f"/{one.name}") for one in TOOLS]), ()
    )
    assert {name for call in world.sayable_calls(0) for name in call.arguments} >= {"note"}
    assert not any(MASK in call.arguments for call in world.sayable_calls(0))
