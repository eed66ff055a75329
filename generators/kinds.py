"""The kinds of samples: which stages make them, of which other kinds, and how many HammerBench has of each.

Counts are those of HammerBench's Table 3 and section 4.2. It tells 1,462 overridings in all; its files hold 395 of them
with an inserted turn. How many irrelevant requests it has is not told: there we take as many as intent shifts. Those of
multi-step samples are ComplexFuncBench's (Table 3), those of routing CallNavi's (Table 2), those of conversations
CONFETTI's (Table 2); they have no part in a build of HammerBench's size.
"""

from collections.abc import Iterable
from typing import NamedTuple

from warehouse.errors import ConfigurationError
from warehouse.records import Transform

PATHS = "multi_step"
MULTI_STEP, MULTI_STEP_CROSS = "multi_step", "multi_step_cross"
ROUTING = "routing"
CONVERSATIONAL, CONVERSATION = "conversational", "conversation"
ROUTING_EASY, ROUTING_MEDIUM, ROUTING_HARD = "routing_easy", "routing_medium", "routing_hard"


class Kind(NamedTuple):
    """A kind of sample: `group` of stages makes it, by `transform` of samples of the kinds in `sources`.

    `paper` is how many the paper tells of, None where it tells nothing; `scale` is how many a build of its size makes.
    """

    name: str
    about: str
    group: str
    transform: Transform | None = None
    sources: tuple[str, ...] = ()
    paper: int | None = None
    scale: int = 0


_KINDS = (
    Kind("perfect", "a request with every required argument", "single_turn", paper=2116, scale=2116),
    Kind("imperfect", "a request that lacks required arguments", "single_turn", paper=3240, scale=3240),
    Kind("irrelevant", "a request that no candidate tool can serve", "single_turn", scale=1098),
    Kind(
        "external", "a request that points to a message instead of saying a value", "external",
        "external", ("perfect", "imperfect"), 1175, 1175,
    ),
    Kind("sQsA", "asked and answered one by one", "dialogue", "sQsA", ("imperfect",), 1098, 1098),
    Kind("mQmA", "several questions at once, all answered", "trajectories", "mQmA", ("sQsA",), 404, 404),
    Kind("mQsA", "several questions at once, one answered", "trajectories", "mQsA", ("sQsA",), 404, 404),
    Kind("sQmA", "one question, several answers", "trajectories", "sQmA", ("sQsA",), 404, 404),
    Kind("IS", "the user turns to something else", "intent_shifts", "IS", ("sQsA",), 1098, 1098),
    Kind("SO_case1", "a value is overridden in the turn that says it", "argument_shifts", "SO_case1", ("sQsA",), 1067, 1067),
    Kind("SO_case2", "a value is overridden in a turn of its own", "argument_shifts", "SO_case2", ("sQsA",), 395, 395),
    Kind("mSv", "another value is wanted after the call", "argument_shifts", "mSv", ("sQsA",), 1066, 1066),
    Kind(
        "sQsA_external", "an answer points to a message instead of saying a value", "external",
        "external", ("sQsA",), 487, 487,
    ),
    Kind(MULTI_STEP, "several steps in one domain, each call answered", PATHS, paper=600),
    Kind(MULTI_STEP_CROSS, "several steps in several domains, each call answered", PATHS, paper=400),
    Kind(ROUTING_EASY, "one call out of a domain's whole catalog", ROUTING, paper=456),
    Kind(ROUTING_MEDIUM, "several calls out of a whole catalog, every argument said", ROUTING, paper=188),
    Kind(ROUTING_HARD, "nested calls out of a whole catalog, some arguments unknown", ROUTING, paper=85),
    Kind(CONVERSATION, "user and agent turns with a required complexity, calls with simulated results", CONVERSATIONAL, paper=109),
)  # fmt: skip
KINDS = {kind.name: kind for kind in _KINDS}
_ANYWHERE: dict[Transform, str] = {
    "IS": "intent_shifts", "SO_case1": "argument_shifts", "SO_case2": "argument_shifts", "mSv": "argument_shifts",
    "external": "external",
}  # fmt: skip


def kind_named(name: str) -> Kind:
    """The kind of this name; shifts and external information take any kind: `perfect_SO_case1`, `mQmA_external`.

    Raises ConfigurationError that lists the kinds there are.
    """
    if name in KINDS:
        return KINDS[name]
    for transform, group in _ANYWHERE.items():
        source = name.removesuffix(f"_{transform}")
        if source != name and name_of(kind_named(source).name, transform) == name:
            return Kind(name, f"{transform} of {source}", group, transform, (source,))
    raise ConfigurationError(
        f"There is no kind of sample {name!r}; the kinds are {', '.join(KINDS)}, and any of them followed by "
        f"{', '.join(f'_{transform}' for transform in _ANYWHERE)}."
    )


def name_of(source: str, transform: Transform) -> str:
    """The kind that a transform makes of a sample of the kind `source`."""
    for kind in _KINDS:
        if kind.transform == transform and source in kind.sources:
            return kind.name
    return f"{source}_{transform}"


def waves_of(names: Iterable[str]) -> list[tuple[Kind, ...]]:
    """The kinds in the order in which they can be made: each wave is made of samples of those before it.

    Raises ConfigurationError where a kind is asked for whose sources are not.
    """
    left = {name: kind_named(name) for name in names}
    made: set[str] = set()
    waves: list[tuple[Kind, ...]] = []
    while left:
        wave = tuple(
            kind for kind in left.values() if all(source in made or source not in left for source in kind.sources)
        )
        for kind in wave:
            if kind.sources and not made.intersection(kind.sources):
                raise ConfigurationError(
                    f"Samples of the kind {kind.name!r} are made of the kinds {', '.join(kind.sources)}; ask for one of them too."
                )
            del left[kind.name]
        made |= {kind.name for kind in wave}
        waves.append(wave)
    return waves
