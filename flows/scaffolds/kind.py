"""A kind of samples of one's own: requests that were proved, with a word of thanks behind them."""

from collections.abc import Mapping

from callwright.generators.families import Family, Kind, Traits
from callwright.generators.stages import StageContext, Step, in_a_row
from callwright.warehouse.records import Derivation, Origin, Sample, Tool, UserTurn


async def say_thanks(derivation: Derivation, context: StageContext) -> list[Sample]:
    """The same request with thanks; its evidence stands where it stood, since they come last."""
    asked, *others = derivation.source.turns
    thanks = context.rng.choice(["Thanks!", "Thank you!", "Many thanks."])
    thanking_turn = (
        asked.with_changes(text=f"{asked.text} {thanks}") if isinstance(asked, UserTurn) else asked
    )
    origin = Origin(stage="thanks", parents=(derivation.key,), seed=derivation.seed)
    facts = derivation.source.facts  # its turns stand where they stood
    turns = (thanking_turn, *others)
    return [derivation.source.with_changes(kind="example", turns=turns, facts=facts, origin=origin)]


def obstacle(sample: Sample, _tools: Mapping[str, Tool]) -> str:
    """Why it can't be made of a sample, "" where it can."""
    return "" if sample.language == "en" else "The thanks are in English."


FAMILY = Family(
    "example",
    kinds=(
        Kind(
            "example",
            "a request that ends with thanks",
            "example",
            Traits(is_whole=True, is_changed=True),
            transform="example",
            sources=("perfect",),
        ),
    ),
    stages=in_a_row(
        "example",
        "Derivation",
        Step("thanks", "Put thanks behind a request.", "Sample", "", say_thanks),
    ),
    obstacles={"example": obstacle},
)
