"""Asking again about accepted samples: second looks drawn at random, and suspects that candidate models answer otherwise."""

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Literal, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe
from callwright.flows.review.gold_items import mix_gold_items
from callwright.flows.review.questions import DRAWN, SECOND_LOOK, SPOT_CHECK, SUSPECT, ReviewQuestion, ask_again
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Arguments, Call
from callwright.warehouse.releases import list_releases, release_named
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

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
    rows = warehouse.rows(sql(f"asking_again.of_{scope}"), [name] if name else [])
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


def _question(row: Row, recipe: Recipe | None) -> ReviewQuestion:
    """The question as a spot check would be asked: nobody learns that somebody has looked before."""
    reviewers = recipe.review.reviewers_of(SPOT_CHECK) if recipe else 1
    return ReviewQuestion(row["subject"], SECOND_LOOK, DRAWN, row["build"], reviewers=reviewers)


_MOST_OF_CALLS = 160  # characters of an answer that a reason shows
_MOST_OF_VALUE = 60


class Suspect(NamedTuple):
    """A sample under suspicion, and why in plain words. `is_new`: nobody was asked about it for that reason yet."""

    subject: str
    kind: str
    category: str
    request: str
    candidates: int
    failing: int
    agreeing: int
    answer: str
    reason: str
    against: str
    build: str
    has_landed: bool
    is_new: bool


class Suspicions(NamedTuple):
    """The suspects of a release, those first on which most candidates agree, and about how many people are asked anew."""

    release: str
    suspects: tuple[Suspect, ...]
    new: int


def raise_suspicions(warehouse: Warehouse, release: str) -> Suspicions:
    """Find the suspects of a release, and ask people about those that have landed, once for each answer and once without one.

    Raises ConfigurationError where there is no such release.
    """
    release_named(warehouse, release)
    suspects = tuple(_suspect(row) for row in warehouse.rows(sql("asking_again.suspects"), [release]))
    new = [one for one in suspects if one.is_new]
    asked = (
        ask_again(
            warehouse, [ReviewQuestion(one.subject, SUSPECT, one.reason, one.build, against=one.against) for one in new]
        )
        if new
        else 0
    )
    return Suspicions(release, suspects, asked)


def tell_suspicions(warehouse: Warehouse, release: str, progress: Progress) -> None:
    """Raise the suspicions of a release, and say how many samples people are asked about."""
    new = raise_suspicions(warehouse, release).new
    if new:
        has, its = ("sample has", "its") if new == 1 else ("samples have", "their")
        progress.say(
            f"{new} landed {has} all candidates or several in one against {its} gold; `callwright review push` asks people "
            f"whether it is right, and `callwright review suspects {release}` tells why."
        )


def _suspect(row: Row) -> Suspect:
    made = _calls(row["calls"])
    gold = _calls(row["gold"])
    against = _against(made, gold) if row["agreeing"] else ""
    is_known = row["asked_before"] and (not against or against in row["asked_against"])
    fields = {name: row[name] for name in Suspect._fields if name in row}
    reason = _reason(row, against)
    return Suspect(**fields, reason=reason, against=against, is_new=row["has_landed"] and not is_known)


def _reason(row: Row, against: str) -> str:
    """Why a sample is suspected: "2 of 3 candidates answer book_table(people=5) where the gold says people=4."."""
    candidates = row["candidates"]
    has_turns = row["turn"] is not None and row["call_turns"] > 1
    at = f" at call turn {row['place']} of {row['call_turns']}" if has_turns else ""
    sentences = []
    if row["failing"] == candidates:
        sentences.append(f"All {candidates} candidates fail it{at}: {row['errors']}.")
    if against:
        where = at if not sentences else ""
        sentences.append(f"{row['agreeing']} of {candidates} candidates answer{where} {against}.")
    return " ".join(sentences)


def _against(made: Sequence[Call], gold: Sequence[Call]) -> str:
    """An answer beside the gold, as far as they differ: "book_table(people=5) where the gold says people=4"."""
    if len(made) != 1 or len(gold) != 1 or made[0].tool != gold[0].tool:
        return f"{_rendered(made)} where the gold {f'calls {_rendered(gold)}' if gold else 'calls nothing'}"
    given, due = made[0].arguments, gold[0].arguments
    other = {name: value for name, value in given.items() if name not in due or not _is_alike(value, due[name])}
    stated = {name: value for name, value in due.items() if name not in given or name in other}
    left_out = [name for name in stated if name not in given]
    call = f"{made[0].tool}({_named(other)})" if other else f"{made[0].tool} without {', '.join(left_out)}"
    return f"{call} where the gold says {_named(stated)}" if stated else f"{call} where the gold says nothing of it"


def _is_alike(one: JsonValue, other: JsonValue) -> bool:
    return _value(one).strip().lower() == _value(other).strip().lower()


def _rendered(calls: Sequence[Call]) -> str:
    rendered = "; ".join(f"{call.tool}({_named(call.arguments)})" for call in calls)
    return rendered if len(rendered) <= _MOST_OF_CALLS else f"{rendered[:_MOST_OF_CALLS]}…"


def _named(arguments: Arguments) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in arguments.items())


def _value(value: JsonValue) -> str:
    rendered = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    rendered = " ".join(rendered.split())
    return rendered if len(rendered) <= _MOST_OF_VALUE else f"{rendered[:_MOST_OF_VALUE]}…"


def _calls(body: str | None) -> list[Call]:
    if body is None:
        return []
    return [Call(tool=call["tool"], arguments=call["arguments"]) for call in orjson.loads(body)]
