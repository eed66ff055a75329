"""Questions over one domain, worded by the template model."""

from collections.abc import Sequence
from random import Random

from callwright.generators.catalogs.own_catalogs import domain_tools
from callwright.generators.families import Order
from callwright.generators.kinds import all_kinds
from callwright.generators.routing.making import plan_routing
from callwright.generators.routing.wording import word_routing
from callwright.generators.stages import StageContext
from callwright.llm.chat import ChatModel
from callwright.warehouse.records import RoutingPlan, Sample, Tool
from tests.support.generators.multi_step.asking import ErringTemplateChat


def context_of(domain: str, chat: ChatModel | None = None) -> StageContext:
    return StageContext(
        chat or ErringTemplateChat(), Random(0), {tool.key: tool for tool in domain_tools([domain])}
    )


def plans_of(kind: str, domain: str = "Bank", count: int = 8, seed: int = 5) -> list[RoutingPlan]:
    return list(plan_routing(routing_order(kind, domain, count, domain_tools([domain]), seed)))


def routing_order(
    kind: str, domain: str, count: int, tools: Sequence[Tool], seed: int = 1
) -> Order:
    return Order(all_kinds()[kind], "en", domain, count, tools, seed)


async def questions(kind: str, domain: str = "Bank", count: int = 8, seed: int = 5) -> list[Sample]:
    context = context_of(domain)
    return [
        sample
        for plan in plans_of(kind, domain, count, seed)
        for sample in await word_routing(plan, context)
    ]
