"""Second looks: accepted samples drawn at random and asked about again, to see what share of them is usable."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Literal, NamedTuple

from flows.recipe import Recipe
from flows.review.gold_items import mix_gold_items
from flows.review.questions import DRAWN, SECOND_LOOK, SPOT_CHECK, Question, ask_again
from flows.settings import Settings, open_warehouse
from warehouse.errors import ConfigurationError
from warehouse.releases import list_releases
from warehouse.rows import Row
from warehouse.store import Warehouse

PAPER = 100  # as many as HammerBench's authors looked at


class Draw(NamedTuple):
    """What was drawn of a recipe's accepted samples, of a release, or of all that is accepted: how many of how many.

    `asked` are the questions that nobody was asked before.
    """

    scope: Literal["recipe", "release", "all"]
    name: str
    samples: int
    drawn: int
    asked: int


def recheck(settings: Settings, name: str = "", *, draw: int = PAPER, seed: int = 0) -> Draw:
    """Ask people a second time, blind, about samples that the seed draws (HammerBench 5); the same draw asks nobody twice.

    `name` is a release or a recipe, a release where both have it. Raises ConfigurationError where there is neither.
    """
    warehouse = open_warehouse(settings)
    scope = _scope(warehouse, name)
    rows = warehouse.rows(_POPULATION[scope], [name] if name else [])
    rows.sort(key=lambda row: blake2b(f"{seed}:{row['subject']}".encode(), digest_size=8).digest())
    drawn = [row for row in rows if not row["is_out"]][:draw]
    recipes = _recipes(warehouse, sorted({row["build"] for row in drawn}))
    asked = ask_again(warehouse, [_question(row, recipes.get(row["build"])) for row in drawn])
    for build, recipe in recipes.items():
        mix_gold_items(warehouse, build, recipe)
    return Draw(scope, name, len(rows), len(drawn), asked)


def _scope(warehouse: Warehouse, name: str) -> Literal["recipe", "release", "all"]:
    if not name:
        return "all"
    releases = [release.name for release in list_releases(warehouse)]
    recipes = [row["recipe"] for row in warehouse.rows("select distinct recipe from builds order by 1")]
    if name in releases:
        return "release"
    if name in recipes:
        return "recipe"
    raise ConfigurationError(
        f"There is no release and no recipe {name!r}. The releases are {', '.join(releases) or 'none yet'}; "
        f"the recipes that were built are {', '.join(recipes) or 'none yet'}."
    )


def _recipes(warehouse: Warehouse, builds: Sequence[str]) -> dict[str, Recipe]:
    rows = warehouse.rows("select key, body from builds where list_contains(?::varchar[], key)", [list(builds)])
    return {row["key"]: Recipe.model_validate_json(row["body"]) for row in rows}


def _question(row: Row, recipe: Recipe | None) -> Question:
    """The question as a spot check would be asked: nobody is told that somebody has looked before."""
    reviewers = recipe.review.reviewers_of(SPOT_CHECK) if recipe else 1
    return Question(row["subject"], SECOND_LOOK, DRAWN, row["build"], reviewers=reviewers)


# What was drawn before stays in the drum, also where it was taken back since. What somebody has still to answer is left out, and
# so is what gold items are made of: who has seen both could tell which is spoiled.
_DRUM = """
    select p.subject, coalesce(a.build, '') as build, exists (
        select 1 from review_queue q where q.subject = p.subject and q.cause <> 'second look' and not q.is_answered
        union all
        select 1 from gold_items g where g.made_of = p.subject
    ) as is_out
    from ({}) p left join acceptances a on a.subject = p.subject
"""
_ACCEPTED = """
    select subject from acceptances c where ({}) and (c.withdrawn_at is null or exists (
        select 1 from review_rounds n where n.subject = c.subject and n.cause = 'second look'
        union all
        select 1 from review_requests q where q.subject = c.subject and q.cause = 'second look'
    ))
"""
_POPULATION = {
    "all": _DRUM.format(_ACCEPTED.format("true")),
    "recipe": _DRUM.format(_ACCEPTED.format("c.recipe = ?")),
    "release": _DRUM.format("select subject from release_samples where release = ?"),
}
