"""Sharing out questions over the domains of whole catalogs, in the proportions of CallNavi's (Table 2)."""

from collections.abc import Iterator, Mapping, Sequence

from generators.catalogs.domain_catalogs import SOURCE, load_domains
from generators.routing.planning import plan_routing
from warehouse.errors import ConfigurationError
from warehouse.records import Language, RoutingPlan, Tool


def routing_shares(
    kind: str, count: int, languages: Sequence[Language], tools: Sequence[Tool]
) -> dict[tuple[Language, str], int]:
    """How many of a kind's questions each language and domain gets. Raises ConfigurationError where there is no domain."""
    places = [
        (language, domain)
        for language in languages
        for domain in dict.fromkeys(tool.category for tool in tools if _is_of(tool, language))
    ]
    if not places and count:
        raise ConfigurationError(
            f"Samples of the kind {kind!r} need the whole catalog of a domain, in one of the languages {', '.join(languages)}; "
            "the recipe's tools have none. Add `- domains: all` to its tools, and en to its languages."
        )
    difficulty = kind.rpartition("_")[2]
    known = {domain.name: domain.composition.get(difficulty, 0) for domain in load_domains()}
    return _shared_out(count, {(language, domain): known.get(domain, 0) for language, domain in places})


def _shared_out(count: int, weights: Mapping[tuple[Language, str], int]) -> dict[tuple[Language, str], int]:
    """Whole shares by weight; what is left goes to those whose shares were cut the most."""
    total = sum(weights.values()) or 1
    shares = {place: count * weight // total for place, weight in weights.items()}
    by_rest = sorted(weights, key=lambda place: -(count * weights[place] % total))
    for place in by_rest[: count - sum(shares.values())]:
        shares[place] += 1
    return shares


def plan_questions(
    kind: str, language: Language, domain: str, count: int, tools: Sequence[Tool], *, seed: int
) -> Iterator[RoutingPlan]:
    """The first `count` plans of a kind in a domain."""
    catalog = [tool for tool in tools if tool.category == domain and _is_of(tool, language)]
    return plan_routing(kind, language, count, catalog, seed=seed) if count else iter(())


def _is_of(tool: Tool, language: Language) -> bool:
    return tool.source == SOURCE and tool.language == language
