"""Planning a build: which tool, which kind, how many parameters, in company of which candidates (HammerBench 4.2).

The n-th assignment of a kind depends on the seed, the catalog and n alone, never on how many are asked for: whoever
raises a count pays for the difference only.
"""

from collections.abc import Iterator
from itertools import chain, zip_longest
from random import Random

from callwright.generators.families import Family, Kind, Order, Traits, plan_each, tools_for, usable_tools
from callwright.generators.kinds import traits_of
from callwright.generators.single_turn import GROUP, IMPERFECT, IRRELEVANT, PERFECT
from callwright.generators.single_turn.requests import choose_parameters, draft_requests, write_requests
from callwright.generators.stages import Step, in_a_row
from callwright.generators.tools import ToolPool, pick_distractors
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Assignment, Origin, Tool

STAGE = "assignments"
MOST_OPTIONAL = 2


def plan_assignments(order: Order) -> Iterator[Assignment]:
    """The first assignments of an order; tools take turns, category by category.

    Raises ConfigurationError where too few tools of the catalog allow its kind in its language, after those that they allow.
    """
    kind, language = order.kind.name, order.language
    spoken = sorted(tools_for(order.tools, language), key=lambda tool: tool.key)
    first = _in_turn(usable_tools(order, spoken, tool_obstacle), Random(f"{order.seed}:{kind}:{language}"))
    later = [tool for tool in first if _allows_more(kind, tool)]
    company = ToolPool(spoken)

    def tool_at(number: int) -> Tool:
        turn = number - len(first)
        return first[number] if turn < 0 else later[turn % len(later)]

    def assign(number: int) -> Assignment:
        tool, rng = tool_at(number), Random(f"{order.seed}:{kind}:{language}:{number}")
        assigned = _assign(kind, tool, company, order.candidates, rng, is_first=number < len(first))
        return assigned if tool.language == language else assigned.with_changes(language=language)

    count = order.samples if later else min(order.samples, len(first))
    yield from plan_each(order._replace(samples=count), lambda number: tool_at(number).name, assign)
    if count < order.samples:
        raise ConfigurationError(
            f"The catalog's {len(spoken)} tools in {language!r} allow {len(first)} samples of the kind {kind!r}, "
            f"but {order.samples} are asked for. Import tools with more parameters, or ask for fewer."
        )


def tool_obstacle(order: Order, tool: Tool) -> str:
    """Why no sample of the order's kind can be about the tool, "" where one can."""
    if order.kind.traits.is_partial and not tool.required:
        return "It requires nothing, so no request can lack anything."
    return ""


def _allows_more(kind: str, tool: Tool) -> bool:
    """Whether the kind can be made of the tool again and again without duplicates."""
    return len(tool.required) > 1 if traits_of(kind).is_partial else bool(tool.choosable)


def _in_turn(tools: list[Tool], rng: Random) -> list[Tool]:
    """Tools in random order, one of each category before the second of any."""
    shuffled = rng.sample(tools, len(tools))
    categories: dict[str, list[Tool]] = {}
    for tool in shuffled:
        categories.setdefault(tool.category, []).append(tool)
    return [tool for tool in chain.from_iterable(zip_longest(*categories.values())) if tool is not None]


def _assign(kind: str, tool: Tool, company: ToolPool, candidates: int, rng: Random, *, is_first: bool) -> Assignment:
    withheld = traits_of(kind).is_idle
    chosen = pick_distractors(tool, company, candidates if withheld else candidates - 1, rng)
    if not withheld:
        chosen.insert(rng.randint(0, len(chosen)), tool)
    return Assignment(
        kind=kind,
        language=tool.language,
        category=tool.category,
        tool=tool.key,
        candidates=tuple(one.key for one in chosen),
        withheld=(tool.key,) if withheld else (),
        parameter_count=_parameter_count(kind, tool, rng, is_first=is_first),
        seed=rng.getrandbits(32),
        origin=Origin(stage=STAGE, parents=(tool.key,)),
    )


def _parameter_count(kind: str, tool: Tool, rng: Random, *, is_first: bool) -> int:
    """How many parameters the request gives; short requests are the rule (HammerBench 4.2.1).

    An imperfect request may give none, as those of HammerBench's dialogues do; a second one of a tool would be its duplicate.
    """
    required, optional = len(tool.required), len(tool.optional)
    if traits_of(kind).is_partial:
        return rng.randint(0 if is_first else min(1, required - 1), max(0, required - 1))
    extra = rng.randint(0, min(MOST_OPTIONAL, optional))
    return max(required + extra, tool.fewest, min(1, len(tool.choosable)))


_PERFECT = Traits("HammerBench", is_whole=True)
_IMPERFECT = Traits("HammerBench", is_partial=True, is_open=True)
_IRRELEVANT = Traits("HammerBench", is_idle=True)

FAMILY = Family(
    "single_turn",
    (
        Kind(PERFECT, "a request with every required argument", GROUP, _PERFECT, paper=2116, scale=2116),
        Kind(IMPERFECT, "a request that lacks required arguments", GROUP, _IMPERFECT, paper=3240, scale=3240),
        Kind(IRRELEVANT, "a request that no candidate tool can serve", GROUP, _IRRELEVANT, scale=1098),
    ),
    stages=in_a_row(
        "single_turn", "Assignment",
        Step("parameters", "Choose the parameters that everyday users give.",
             "ParameterChoice", "HammerBench 4.2.1, D.3", choose_parameters, ("choose_parameters",)),
        Step("values", "Give each chosen parameter a value that its schema allows, and word the request with them.",
             "DraftCall", "HammerBench 4.2.1, D.2", draft_requests, ("draft_request",),
             voiced=("draft_request",)),
        Step("requests", "Keep the words that say exactly the arguments; word the call again where they do not.",
             "Sample", "HammerBench 4.2.1, D.2", write_requests, ("write_request",),
             voiced=("write_request",)),
    ),
    drafts=Assignment,
    plan=plan_assignments,
    tool_obstacle=tool_obstacle,
)  # fmt: skip
