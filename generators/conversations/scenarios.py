"""The thirteen complexities of conversations, with CONFETTI's number of dialogues (Table 1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from random import Random

from callwright.generators.environments.linking import words_of
from callwright.generators.environments.simulated import links_between, new_fields
from callwright.generators.families import Order, plan_each, tools_for, usable_tools, value_obstacle
from callwright.generators.tools import ToolPool, are_redundant, pick_distractors
from callwright.language.calls.parameters import in_context
from callwright.language.calls.sampling import make_value
from callwright.language.names import CHANGES, Deed, deed_of, function_words
from callwright.language.schemas import choices_of, json_type
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import (
    Complexity,
    EpisodePlan,
    EpisodeShape,
    Language,
    Origin,
    Scenario,
    Tool,
)

# The table adds up to 108 of the 109 conversations that the paper tells of.
_ROWS: tuple[tuple[Complexity, int, EpisodeShape, tuple[int, int]], ...] = (
    # complexity, conversations of it, its shape, and the user turns and call turns of that
    ("exception_in_execution", 5, "exception", (2, 2)),
    ("failed_conversation", 5, "failed", (3, 2)),
    ("confirmation", 6, "confirmation", (2, 1)),
    ("goal_switching", 6, "switch", (2, 1)),
    ("no_target_complexity", 6, "plain", (1, 1)),
    ("goal_correction", 7, "correction", (2, 2)),
    ("goal_stacking", 7, "stacked", (1, 1)),
    ("ambiguous_goal", 9, "ambiguous", (2, 1)),
    ("follow_up_question", 10, "follow_up", (2, 2)),
    ("implicit_descriptive_goal", 10, "implicit", (1, 1)),
    ("overfill", 11, "overfill", (1, 1)),
    ("underfill", 11, "underfill", (2, 1)),
    ("goal_not_supported", 15, "unsupported", (1, 0)),
)
PAPER: Mapping[Complexity, int] = {complexity: count for complexity, count, *_ in _ROWS}
SHAPES: Mapping[Complexity, EpisodeShape] = {complexity: shape for complexity, _, shape, _ in _ROWS}


def shared_out(count: int) -> dict[Complexity, int]:
    """Split `count` conversations over the complexities in the paper's proportions.

    The largest remainders round up.
    """
    total = sum(PAPER.values())
    exact = {complexity: count * share / total for complexity, share in PAPER.items()}
    shares = {complexity: int(value) for complexity, value in exact.items()}
    by_rest = sorted(exact, key=lambda one: (shares[one] - exact[one], -PAPER[one]))
    for complexity in by_rest[: count - sum(shares.values())]:
        shares[complexity] += 1
    return shares


STAGE = "conversation_scenarios"
_FEWEST_TOOLS = 3
_FIRST_DAY = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
_DAYS, _MINUTES_A_DAY = 24, 12 * 60
_MOST_REQUIRED = 5
_ATTEMPTS = 3
_DRAWN = 8  # values of a parameter, to see whether it takes several
_TYPES = frozenset({"string", "integer", "number"})
_LOOKING = frozenset({"list", "search", "look"})
_DESKS = (("in",), ("out",))  # who checks in or out looks nothing up
# user turns and turns with calls that a shape takes
_LENGTHS: dict[EpisodeShape, tuple[int, int]] = {shape: lengths for _, _, shape, lengths in _ROWS}
_LENGTHS |= {"chained": (1, 1), "compared": (1, 1), "thanks": (1, 0)}
# chosen so that turns, chains and acts are about as many as in CONFETTI's Tables 2 and 3
_FILLERS: Mapping[EpisodeShape, int] = {"plain": 23, "underfill": 26, "chained": 27, "compared": 24}
_COMPARED = (3, 3, 4, 4)
_MINIMUM_TURNS = (2, 3, 3, 4, 4)
_CALL_TURNS = (2, 2, 2, 3, 3, 4)
_REJECTED_SHARE = 0.17
_THANKS_SHARE = 0.23
# shares of conversations with so many candidates, at most
_TOOL_COUNTS = ((0.46, 5, 9), (0.95, 10, 19), (1.0, 20, 25))
# these are refused nothing besides
_SERVED = frozenset({"no_target_complexity", "goal_not_supported"})
_PAIRS: frozenset[EpisodeShape] = frozenset({"switch", "stacked", "ambiguous", "overfill"})
_LINKED: frozenset[EpisodeShape] = frozenset({"follow_up", "chained"})


def plan_scenarios(complexity: Complexity, order: Order) -> Iterator[Scenario]:
    """Plan the first scenarios of a complexity, reporting categories that allow none.

    Raises ConfigurationError if no category of the tools allows one.
    """
    language, seed = order.language, order.seed
    usable = usable_tools(order, tools_for(order.tools, language), tool_obstacle)
    pool = sorted({tool.name: tool for tool in usable}.values(), key=lambda tool: tool.key)
    shape = SHAPES[complexity]
    of_category: dict[str, list[Tool]] = {}
    for tool in sorted(pool, key=lambda tool: tool.category):
        of_category.setdefault(tool.category, []).append(tool)
    enough = ((one, tools) for one, tools in of_category.items() if len(tools) >= _FEWEST_TOOLS)
    is_free = shape != "follow_up"
    categories = [one for one, tools in enough if is_free or linked_pairs(tools, looking=False)]

    def plan(number: int) -> Scenario:
        scenario = None
        while scenario is None and categories:
            name = f"{seed}:conversation:{complexity}:{language}:{number}"
            rng = Random(name)
            category = rng.choice(categories)
            for attempt in range(_ATTEMPTS):  # a few draws, as one may leave too few turns
                rng = Random(f"{name}:{attempt}") if attempt else rng
                scenario = scenario or _Planning(pool, rng, language).scenario(complexity, category)
            if scenario is None:
                categories.remove(category)
                what = f"no conversation of the complexity {complexity!r} in {language!r}"
                order.misses(f"The category {category!r} allows {what}; it is left out.")
        if scenario is None:
            what = f"The catalog's {len(pool)} tools in {language!r} that require something sayable"
            why = f"no category has {_FEWEST_TOOLS} of them that go together. Import more tools."
            message = f"{what} allow no conversation of the complexity {complexity!r}: {why}"
            raise ConfigurationError(message)
        return scenario

    yield from plan_each(order, lambda _number: "", plan)


def tool_obstacle(order: Order, tool: Tool) -> str:
    """Return why users can't ask for the tool in a sentence or two, or "".

    It requires no text or number, too many parameters, or objects; or no value can be drawn.
    """
    if len(tool.required) > _MOST_REQUIRED:
        return f"It requires more than {_MOST_REQUIRED} parameters, too many for a sentence or two."
    if nested := next((name for name in tool.required if not _is_flat(tool, name)), ""):
        return f"It requires the object {nested!r}, which nobody says in a sentence or two."
    if not changeable(tool):
        return "It requires no text and no number, so there is nothing to say or to correct."
    return value_obstacle(order, tool)


def _is_flat(tool: Tool, name: str) -> bool:
    """Whether a parameter takes a single value or a list of them."""
    schema = tool.properties.get(name, {})
    listed = schema.get("items") if json_type(schema) == "array" else schema
    return isinstance(listed, dict) and json_type(listed) not in ("array", "object")


def changeable(tool: Tool) -> list[str]:
    """Return the required texts and numbers that can take another value."""
    typed = {name: schema for name, schema in tool.properties.items() if "type" in schema}
    able = [name for name in tool.required if name in typed and json_type(typed[name]) in _TYPES]
    return [name for name in able if _values_of(tool, name) > 1]


@lru_cache(4096)
def _values_of(tool: Tool, name: str) -> int:
    """Return how many values of a few draws differ, so that they can replace each other."""
    schema = in_context(tool.properties, tool.name, tool.description)[name]
    try:
        drawn = {
            str(make_value(name, schema, tool.language, Random(f"{name} {number}")))
            for number in range(_DRAWN)
        }
    except ReplyError:
        return 0
    return len(drawn)


def comparable(tool: Tool) -> list[str]:
    """List the text parameters of a lookup tool whose values users compare one by one.

    Amounts are excluded: another amount of money would get the same rate.
    """
    if not looks_up(tool):
        return []
    texts = [name for name in changeable(tool) if json_type(tool.properties[name]) == "string"]
    return [name for name in texts if _values_of(tool, name) >= max(_COMPARED)]


def looks_up(tool: Tool) -> bool:
    """Whether the verb in the tool's name says that it only looks something up."""
    return _deed(tool) in _LOOKING


def linked_pairs(tools: Sequence[Tool], *, looking: bool) -> list[tuple[Tool, Tool]]:
    """Return pairs of tools where the first returns what the second requires.

    With `looking`, the first tool only looks up.
    """
    giving = [(one, new_fields(one)) for one in tools if not looking or looks_up(one)]
    return [
        (one, other)
        for one, fields in giving
        if fields  # most pairs have nothing in common, and a catalog has many
        for other in tools
        if not fields.isdisjoint(other.required)
        and links_between(one, other)
        and (looks_up(one) or _deed(other) != "drop")  # nobody takes back what was just made
    ]


class _Planning:
    """Builder of one scenario; each tool serves one episode, so calls reveal their request."""

    def __init__(self, pool: Sequence[Tool], rng: Random, language: Language) -> None:
        self._pool = pool
        self._language = language
        self._rng = rng
        self._used: list[Tool] = []
        self._withheld: list[Tool] = []

    def scenario(self, complexity: Complexity, category: str) -> Scenario | None:
        """Plan a scenario with a main episode about `category`, and episodes around it; or None."""
        rng = self._rng
        core = self._episode(SHAPES[complexity], category)
        if core is None:
            return None
        main = self._used[0]
        minimum = rng.choice(_MINIMUM_TURNS)
        before, after = self._fillers(core, category, minimum)
        users = sum(_LENGTHS[one.shape][0] for one in (*before, core, *after))
        if users < min(_MINIMUM_TURNS):
            return None
        if complexity not in _SERVED and rng.random() < _REJECTED_SHARE:
            refused = self._episode("unsupported", category)
            before += [refused] if refused else []
        ends = [EpisodePlan(shape="thanks")] if rng.random() < _THANKS_SHARE else []
        days, quarters = rng.randrange(_DAYS), rng.randrange(_MINUTES_A_DAY // 15)
        moment = _FIRST_DAY + timedelta(days=days, minutes=15 * quarters)
        return Scenario(
            complexity=complexity,
            language=self._language,
            category=category,
            episodes=(*before, core, *after, *ends),
            candidates=tuple(tool.key for tool in self._candidates(main)),
            withheld=tuple(tool.key for tool in self._withheld),
            reference_time=f"{moment:%Y-%m-%d %H:%M}",
            minimum_turns=min(minimum, users),
            seed=rng.getrandbits(32),
            origin=Origin(stage=STAGE, parents=tuple(tool.key for tool in self._used)),
        )

    def _fillers(
        self, core: EpisodePlan, category: str, minimum: int
    ) -> tuple[list[EpisodePlan], list[EpisodePlan]]:
        """Add episodes before and after the main one until there are enough turns.

        Nothing follows a goal that failed.
        """
        rng = self._rng
        others = [one for one in sorted({tool.category for tool in self._pool}) if one != category]
        second_category = rng.choice(others) if others else category
        users, calls = _LENGTHS[core.shape]
        wanted = rng.choice(_CALL_TURNS)
        before: list[EpisodePlan] = []
        after: list[EpisodePlan] = []
        for _ in range(2 * minimum + wanted):
            if users >= minimum and calls >= wanted:
                break
            (shape,) = rng.choices(list(_FILLERS), list(_FILLERS.values()))
            added = self._episode(shape, rng.choice((category, second_category)))
            if added is None:
                continue
            users, calls = users + _LENGTHS[added.shape][0], calls + _LENGTHS[added.shape][1]
            (before if core.shape == "failed" or rng.random() < 0.5 else after).append(added)  # noqa: PLR2004 - a coin
        return before, after

    def _episode(self, shape: EpisodeShape, category: str) -> EpisodePlan | None:
        """Return an episode of tools not yet in use, or None if the category has none that fit."""
        of_category = (tool for tool in self._pool if tool.category == category)
        free = [tool for tool in of_category if not _is_like(tool, self._used)]
        # what is refused is refused clearly if no other tool of the conversation is for the same
        against = self._used if shape == "unsupported" else self._withheld
        clear = [tool for tool in free if not any(_takes_the_same(tool, one) for one in against)]
        if shape == "unsupported":
            clear = [tool for tool in clear if not _has_coded_choices(tool)]
        apart = [tool for tool in free if not any(_is_about_the_same(tool, one) for one in against)]
        chosen = self._tools_for(shape, clear) or self._tools_for(shape, apart)
        if not chosen:
            return None
        self._used += chosen
        self._withheld += chosen if shape == "unsupported" else []
        count = self._rng.choice(_COMPARED) if shape == "compared" else 1
        return EpisodePlan(shape=shape, tools=tuple(tool.key for tool in chosen), count=count)

    def _tools_for(self, shape: EpisodeShape, free: Sequence[Tool]) -> list[Tool]:
        if shape in _LINKED:
            pairs = linked_pairs(free, looking=shape == "chained")
            return list(self._rng.choice(pairs)) if pairs else []
        if shape in _PAIRS:
            pairs = [(one, two) for one in free for two in free if _go_together(shape, one, two)]
            return list(self._rng.choice(pairs)) if pairs else []
        fitting = [tool for tool in free if shape != "compared" or comparable(tool)]
        if shape == "confirmation":  # a look-up needs none
            fitting = [tool for tool in fitting if not looks_up(tool)] or fitting
        return [self._rng.choice(fitting)] if fitting else []

    def _candidates(self, main: Tool) -> list[Tool]:
        """Return the episodes' tools and distractors, none of which can replace a withheld tool."""
        rng = self._rng
        drawn = rng.random()
        least, most = next((least, most) for share, least, most in _TOOL_COUNTS if drawn < share)
        own = [tool for tool in self._used if tool not in self._withheld]
        others = (tool for tool in self._pool if tool not in self._used)
        apart = (tool for tool in others if not _is_like(tool, (*self._withheld, *own)))
        pool = ToolPool(
            [
                tool
                for tool in apart
                if not any(_takes_the_same(tool, one) for one in self._withheld)
            ]
        )
        company = pick_distractors(main, pool, max(2, rng.randint(least, most) - len(own)), rng)
        return rng.sample([*own, *company], len(own) + len(company))


def _takes_the_same(one: Tool, other: Tool) -> bool:
    """Whether both tools take the same details and do or are about the same.

    One is heard for both then; what takes `ids` does what another does with an `id`, too.
    """
    is_same_deed = (_deed(one) in CHANGES) == (_deed(other) in CHANGES)
    needs = [{" ".join(words_of(name)) for name in tool.required} for tool in (one, other)]
    return needs[0] == needs[1] and (is_same_deed or _is_about_the_same(one, other))


def _is_about_the_same(one: Tool, other: Tool) -> bool:
    """Whether both tools are about one sort of things, so that one may be taken for the other."""
    things = [{*words_of(" ".join(function_words(tool.name)[1:]))} for tool in (one, other)]
    return not things[0].isdisjoint(things[1])


def _has_coded_choices(tool: Tool) -> bool:
    """Whether a required choice is a name as code has it, which is said for a call only."""
    choices = (str(one) for name in tool.required for one in choices_of(tool.properties[name]))
    return any("_" in choice for choice in choices)


def _is_like(tool: Tool, others: Iterable[Tool]) -> bool:
    return any(are_redundant(tool, one) for one in others)


def _go_together(shape: EpisodeShape, one: Tool, two: Tool) -> bool:
    is_told = shape != "overfill" or any(name not in one.properties for name in changeable(two))
    return is_told and one.name != two.name and not are_redundant(one, two)


def _deed(tool: Tool) -> Deed:
    words = function_words(tool.name)
    if not words or (words[0] == "check" and words[1:2] in _DESKS):
        return "other"
    return deed_of(words[0])
