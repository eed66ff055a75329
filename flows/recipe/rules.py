"""The rules by which samples are made and land: models by role, checks, reviews, acceptance."""

from collections.abc import Callable, Mapping
from functools import partial
from heapq import heapify, heapreplace
from math import ceil
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from callwright.flows.recipe.own_words import RecipePart
from callwright.llm.models import ModelSettings
from callwright.warehouse.extras import require_extra

Share = Annotated[float, Field(ge=0, le=1)]
Part = Annotated[float, Field(gt=0, le=1)]


def text_as(name: str) -> Callable[[object], object]:
    """Return a validator that reads a plain text as the setting `name`."""
    return lambda stated: {name: stated} if isinstance(stated, str) else stated


Model = Annotated[
    ModelSettings, BeforeValidator(text_as("name"), json_schema_input_type=str | ModelSettings)
]


_TEMPLATE = partial(ModelSettings, name="template/v1")


class Roles(RecipePart):
    """Which model words requests, makes calls from them, judges, and talks with simulated users."""

    generator: Model = Field(
        default_factory=_TEMPLATE,
        description="The model that words requests: its name or its settings.",
    )
    checker: Model = Field(
        default_factory=_TEMPLATE,
        description="The model that makes calls from requests: its name or its settings.",
    )
    judge: Model = Field(
        default_factory=_TEMPLATE, description="The model that judges: its name or its settings."
    )
    assistant: Model | None = Field(
        default=None,
        description=(
            "The model that talks with simulated users and calls tools in live tasks."
            " Default: the generator."
        ),
    )

    @model_validator(mode="after")
    def _only_judges_see_several(self) -> Self:
        """Allow several items per request for judges only.

        What is worded or called in view of others becomes like them; a yes or no does not
        (decision 0011).
        """
        for name, model in self.named.items():
            if name != "judge" and model.items_per_request > 1:
                raise ValueError(
                    f"items_per_request is for the judge only; the {name} must see one item at a"
                    " time"
                )
        return self

    @property
    def named(self) -> dict[str, ModelSettings]:
        """The model of each role; without an assistant if none is set."""
        stated: dict[str, ModelSettings | None] = {
            name: getattr(self, name) for name in type(self).model_fields
        }
        return {name: model for name, model in stated.items() if model is not None}


Reviewers = Annotated[int, Field(ge=1, le=9)]


SystemMessage = Annotated[str, Field(max_length=20_000)]
UNTOLD = "none"  # as a system message: rows of training get none either


class Candidate(RecipePart):
    """A model to be scored, under the name that the leaderboard shows."""

    label: str = Field(description="The name on the leaderboard, unique in the recipe.")
    model: Model = Field(description="The model to score: its name or its settings.")


class PromptFile(RecipePart):
    """A text in place of one of our prompts: a Jinja file, its path relative to the recipe."""

    file: Path = Field(description="The file with the prompt's text, relative to the recipe.")
    # read with the recipe, so that a build needs the file no more
    text: str = Field(default="", repr=False)


class Checks(RecipePart):
    """Thresholds, as fractions."""

    rouge_l: Share = Field(
        default=0.7,
        description="The likeness (Rouge-L) from which free text in two calls agrees, from 0 to 1.",
    )
    near_duplicate: Part = Field(
        default=0.9,
        description="The largest likeness of two requests with the same gold, from 0 to 1.",
    )
    reworded_duplicate: Part | None = Field(
        default=0.5,
        description=(
            "The largest likeness of two differently worded requests for the same calls, from"
            " 0 to 1."
        ),
    )
    largest_opening: Part | None = Field(
        default=0.1,
        description="The largest share of a language's requests that begin alike, from 0 to 1.",
    )
    largest_skeleton: Part | None = Field(
        default=0.05,
        description=(
            "The largest share of a language's requests that are the same sentence with other"
            " values, from 0 to 1."
        ),
    )
    repeated: Literal["tell", "reject"] = Field(
        default="tell",
        description=(
            "What to do with requests beyond these two shares: tell (report them) or reject"
            " (reject them, so that spare ones take their place)."
        ),
    )


LandedGrade = Literal["judged", "proved"]
LANDED_GRADES: tuple[LandedGrade, ...] = ("judged", "proved")  # the weakest first
# So many, or a share of what landed: 20 is twenty, 0.05 one in twenty, 1.0 all.
SpotChecks = (
    Annotated[int, Field(strict=True, ge=0)] | Annotated[float, Field(strict=True, ge=0, le=1)]
)


class ReviewRules(RecipePart):
    """What reviewers see besides the samples that can't land without them, and how many answer.

    - `spot_checks` are drawn from the accepted samples by the seed: a number, a share, or one of
      these for each grade ("proved", "judged"). A grade that is not named gets none.
    - `dialogue_acts` accepted conversations are shown for their dialogue acts alone.
    - `reviewers` answer each question independently: one number, or one for each cause ("doubtful",
      "spot check"). If they disagree, one more is asked.
    - `repeated` also shows requests that repeat others beyond what `checks` allows.
    - `gold_items` have a known right answer: so many are mixed into each hundred questions.
    - `draw_every` mixes drawn questions (spot checks, gold items) with the samples in doubt: one in
      so many. Of the others, the most urgent come first.
    """

    spot_checks: SpotChecks | dict[LandedGrade, SpotChecks] = Field(
        default=20,
        description=(
            "How many accepted samples reviewers see as well: a number, a share, or one of"
            " these for each grade."
        ),
    )
    dialogue_acts: int = Field(
        default=0,
        ge=0,
        description="How many accepted conversations reviewers see to check their dialogue acts.",
    )
    reviewers: Reviewers | dict[Literal["doubtful", "spot check"], Reviewers] = Field(
        default=1,
        description="How many people answer each question: a number, or one for each cause.",
    )
    repeated: bool = Field(
        default=False,
        description=(
            "Whether reviewers see requests beyond checks.largest_opening and"
            " largest_skeleton before they land."
        ),
    )
    gold_items: float = Field(
        default=0.0,
        ge=0,
        le=50,
        description=(
            "How many questions with a known answer are mixed in for each hundred questions."
        ),
    )
    draw_every: int = Field(
        default=10,
        ge=2,
        le=1000,
        description=(
            "One question in so many is drawn (a spot check or a gold item); the others are"
            " samples in doubt."
        ),
    )

    def spot_checks_by_grade(self) -> dict[tuple[LandedGrade, ...], int | float]:
        """Return the number or share of spot checks, by the grades that they are drawn from."""
        if isinstance(self.spot_checks, dict):
            return {(grade,): wanted for grade, wanted in self.spot_checks.items()}
        return {LANDED_GRADES: self.spot_checks}

    def spot_checks_among(self, count: int) -> int:
        """Return how many of `count` samples without grades are spot-checked."""
        wanted = self.spot_checks_by_grade().values()
        return sum(one if isinstance(one, int) else ceil(one * count) for one in wanted)

    def reviewers_of(self, cause: str) -> int:
        """Return how many people answer a question of this cause."""
        if isinstance(self.reviewers, int):
            return self.reviewers
        return next((count for name, count in self.reviewers.items() if name == cause), 1)


class ReaderRules(RecipePart):
    """How readers are measured: which share of what they read is planted, and how many at least.

    The minimum is for each language and family. What the reader wrote is compared with a defect
    in the place of the gold, or with the gold as it is. There is at most one of each sample. If
    `accept` has `wrong_at_most`, `at_most` does not count: what is known of a reader decides
    then.
    """

    planted: Share = Field(
        default=0.05,
        description=(
            "The share of what readers read in which a defect is planted to measure them. 0: none."
        ),
    )
    at_least: int = Field(
        default=40,
        ge=0,
        description=(
            "The fewest defects to plant in each language and family, as far as there are samples."
        ),
    )
    at_most: Share = Field(
        default=0.2,
        description=(
            "The largest share that is planted to reach `at_least`, so that small builds pay"
            " in proportion."
        ),
    )


class AcceptanceRules(RecipePart):
    """How good a reader must be, as measured in the build, for what it settles to land.

    Otherwise all of it waits for people. A reader that catches too few of the planted defects,
    overall or of one sort, or that agrees with too few golds as they are, settles nothing. If
    `wrong_at_most` is given, more must be known of it as well.
    """

    caught_at_least: Share = Field(
        default=0.9,
        description=(
            "The share of planted defects that a reader must catch. A sort of defect fails if"
            " it surely catches fewer."
        ),
    )
    agreed_at_least: Share = Field(
        default=0.5, description="The share of intact golds with which a reader must agree."
    )
    wrong_at_most: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description=(
            "The largest share of wrong samples among those that land on a model's word, such as"
            " 0.02."
        ),
    )


class EachRun(RecipePart):
    """What each run of a schedule does after the first, which builds the recipe as it is.

    What a run makes stands beside what the runs before it have made. `grow` makes so many samples
    by a seed of the run's own, in the proportions of the recipe; `seed: new` makes as many as the
    recipe asks for. `tools: refresh` asks files, catalogs and servers for their tools again.
    """

    grow: int | None = Field(
        default=None, ge=1, description="How many more samples each run after the first makes."
    )
    seed: Literal["new"] | None = Field(
        default=None, description="new: each run makes all samples of the recipe by another seed."
    )
    tools: Literal["refresh"] | None = Field(
        default=None, description="refresh: each run fetches the tools again and tells the changes."
    )

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("say what each run does: grow: 200, seed: new or tools: refresh")
        if self.grow is not None and self.seed is not None:
            raise ValueError("grow and seed: new are two ways to make more; leave one of them out")
        return self

    def seed_of(self, run: int, seed: int) -> int:
        """Return the seed of a run, from 1, of a recipe with this seed."""
        return seed if self.grow is None and self.seed is None else seed + run - 1

    def counts(self, run: int, asked: Mapping[str, int]) -> dict[str, int]:
        """Return how many samples of each kind a run makes, from 1; `asked` is the recipe's count.

        >>> EachRun(grow=2).counts(2, {"perfect": 20, "irrelevant": 10})
        {'perfect': 1, 'irrelevant': 1}
        """
        if run == 1 or self.grow is None:
            return dict(asked)
        until, before = (shared_in_proportion(self.grow * (at - 1), asked) for at in (run, run - 1))
        return {kind: until[kind] - before[kind] for kind in asked}


def shared_in_proportion(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Return `total` shared out by weight. A larger total takes nothing away from anybody.

    It is Sainte-Laguë's method: whoever has least for their weight is next.
    """
    shares = dict.fromkeys(weights, 0)
    queue = [(1 / weight, at, kind) for at, (kind, weight) in enumerate(weights.items()) if weight]
    heapify(queue)
    for _ in range(total if queue else 0):
        _, at, kind = queue[0]
        shares[kind] += 1
        heapreplace(queue, ((2 * shares[kind] + 1) / weights[kind], at, kind))
    return shares


class Schedule(RecipePart):
    """When Prefect runs the build, what each run adds, and when a release is made of it."""

    cron: str = Field(description="When the build runs, as a cron line such as '0 3 * * *'.")
    timezone: str = Field(default="UTC", description="The time zone of the cron line.")
    each: EachRun | None = Field(
        default=None,
        description="What each run does after the first. Default: nothing while nothing changes.",
    )
    release: Literal["when reviewed"] | None = Field(
        default=None,
        description=(
            "when reviewed: make a release once all that people were asked about a run is"
            " answered, and evaluate the recipe's candidates on it."
        ),
    )

    @model_validator(mode="after")
    def _has_runs(self) -> Self:
        if self.release is not None and self.each is None:
            raise ValueError("release needs each, which says what a run is")
        return self

    @field_validator("cron")
    @classmethod
    def _is_cron(cls, cron: str) -> str:
        require_extra("build")
        from croniter import croniter

        if not croniter.is_valid(cron):
            raise ValueError(f"{cron!r} is not a cron line such as '0 3 * * *'")
        return cron

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, timezone: str) -> str:
        from zoneinfo import available_timezones

        if timezone not in available_timezones():
            raise ValueError(f"there is no time zone {timezone!r}; an example is 'Europe/Berlin'")
        return timezone
