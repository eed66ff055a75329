"""How questions over whole catalogs are made: calls planned over a domain, then worded (CallNavi 4.1)."""

from collections.abc import Iterator, Mapping, Sequence

from generators.catalogs.domain_catalogs import SOURCE, load_domains
from generators.families import Kind
from generators.planning import Making, Order, Share
from generators.routing.planning import plan_routing
from generators.routing.wording import word_routing
from generators.stages import Stage
from warehouse.errors import ConfigurationError
from warehouse.records import Language, RoutingPlan, Tool


def share_over_domains(kind: Kind, count: int, languages: Sequence[Language], tools: Sequence[Tool]) -> Iterator[Share]:
    """How many of a kind's questions each language and domain gets, in the proportions of CallNavi's (Table 2).

    Raises ConfigurationError where there is no domain.
    """
    places = [
        (language, domain)
        for language in languages
        for domain in dict.fromkeys(tool.category for tool in tools if _is_of(tool, language))
    ]
    if not places and count:
        raise ConfigurationError(
            f"Samples of the kind {kind.name!r} need the whole catalog of a domain, in one of the languages "
            f"{', '.join(languages)}; the recipe's tools have none. Add `- domains: all` to its tools, and en to its languages."
        )
    known = {domain.name: domain.composition.get(kind.traits.difficulty, 0) for domain in load_domains()}
    shares = _shared_out(count, {(language, domain): known.get(domain, 0) for language, domain in places})
    for (language, domain), share in shares.items():
        yield Share(language, share, domain)


def _shared_out(count: int, weights: Mapping[tuple[Language, str], int]) -> dict[tuple[Language, str], int]:
    """Whole shares by weight; what is left goes to those whose shares were cut the most."""
    total = sum(weights.values()) or 1
    shares = {place: count * weight // total for place, weight in weights.items()}
    by_rest = sorted(weights, key=lambda place: -(count * weights[place] % total))
    for place in by_rest[: count - sum(shares.values())]:
        shares[place] += 1
    return shares


def _plan(order: Order) -> Iterator[RoutingPlan]:
    catalog = [tool for tool in order.tools if tool.category == order.place and _is_of(tool, order.language)]
    if not order.samples:
        return iter(())
    return plan_routing(order.kind.name, order.language, order.samples, catalog, seed=order.seed)


def _is_of(tool: Tool, language: Language) -> bool:
    return tool.source == SOURCE and tool.language == language


MAKING = Making(
    "routing",
    stages=(
        Stage(
            "routing_requests", "routing", "Word calls of a domain's whole catalog as one question, again until it says all.",
            "RoutingPlan", "Sample", "CallNavi 4.1",
            word_routing, "generator", ("generators/routing/prompts/word_routing.j2",),
        ),
    ),
    drafts=RoutingPlan,
    plan=_plan,
    shares=share_over_domains,
)  # fmt: skip
