"""Compares the diversity of a warehouse's requests with HammerBench's published ones.

    python -m bench.diversity WAREHOUSE.duckdb RECIPE [HAMMERBENCH_SAMPLES]

For each language, over draws of a hundred requests (so that sets of different sizes compare):
distinct-3, the share of distinct trigrams; overlap, the share of a request's trigrams that
another request has too (a self-BLEU without smoothing); the share of requests that begin with
one of the ten commonest opening trigrams; and the share that contains the tool's description
word for word.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import mean
from typing import NamedTuple

from callwright.language.packs import unspaced
from callwright.warehouse.store import Warehouse

DRAWS, SIZE, LENGTH, COMMONEST = 5, 100, 3, 10
_WORD = re.compile(rf"[^\W\d_{unspaced()}]+(?:['’][^\W\d_]+)?|[{unspaced()}]|\d+")


class Asked(NamedTuple):
    """A request, and the description of the tool that it asks for."""

    request: str
    description: str


class Diversity(NamedTuple):
    """The diversity of a set of requests."""

    requests: int
    distinct: float
    overlap: float
    openings: float
    described: float


def measure(asked: Sequence[Asked]) -> Diversity:
    """Return the figures, each the mean of several draws."""
    draws = [Random(draw).sample(list(asked), min(SIZE, len(asked))) for draw in range(DRAWS)]
    return Diversity(
        len(asked),
        mean(distinct(drawn) for drawn in draws),
        mean(overlap(drawn) for drawn in draws),
        mean(commonest(drawn) for drawn in draws),
        mean(bool(stands_in(one)) for one in asked),
    )


def words(text: str) -> list[str]:
    """Return the words of a text; for Chinese, its characters."""
    return _WORD.findall(text.casefold())


def runs(text: str) -> list[tuple[str, ...]]:
    """Return all runs of three words in a text."""
    row = words(text)
    return [tuple(row[at : at + LENGTH]) for at in range(len(row) - LENGTH + 1)]


def distinct(asked: Sequence[Asked]) -> float:
    """Return the share of distinct ones among all runs of three words."""
    every = [run for one in asked for run in runs(one.request)]
    return len(set(every)) / max(1, len(every))


def overlap(asked: Sequence[Asked]) -> float:
    """Return the mean share of a request's runs of three words that another request has too."""
    holders = Counter(run for one in asked for run in set(runs(one.request)))
    shares = [
        mean(holders[run] > 1 for run in set(runs(one.request)))
        for one in asked
        if runs(one.request)
    ]
    return mean(shares) if shares else 0.0


def commonest(asked: Sequence[Asked]) -> float:
    """Return the share of requests with one of the ten commonest openings of three words."""
    openings = Counter(tuple(words(one.request)[:LENGTH]) for one in asked)
    return sum(count for _, count in openings.most_common(COMMONEST)) / max(1, len(asked))


def stands_in(asked: Asked) -> bool:
    """Whether the request contains the description word for word."""
    described = "\x00".join(words(asked.description))
    return bool(described) and described in "\x00".join(words(asked.request))


def ours(file: Path, recipe: str) -> dict[str, list[Asked]]:
    """Return the single-turn requests that a recipe landed, by language."""
    warehouse = Warehouse(file)
    found: dict[str, list[Asked]] = {}
    for row in warehouse.rows(
        "select s.language, s.request, t.description from accepted_samples s join tools t on t.name"
        " = s.gold ->> '$[0].tool' and t.language = s.language where s.recipe = ? and s.kind in"
        " ('perfect', 'imperfect') order by s.key",
        [recipe],
    ):
        found.setdefault(str(row["language"]), []).append(
            Asked(str(row["request"]), str(row["description"]))
        )
    return found


def published(folder: Path) -> dict[str, list[Asked]]:
    """Return the requests of HammerBench's single-turn samples, by language."""
    found: dict[str, list[Asked]] = {}
    for language in sorted(one.name for one in folder.iterdir()):
        for name in ("ST_Perfect", "ST_Imperfect"):
            for record in json.loads(
                (folder / language / "single-turn" / f"{name}.json").read_text(encoding="utf-8")
            ):
                called = record["messages"][1]["content"]
                name_called = called.get("name") if isinstance(called, dict) else ""
                tools = {tool["name"]: tool["description"] for tool in record["multiple_tools"]}
                asked = Asked(record["messages"][0]["content"], tools.get(name_called, ""))
                found.setdefault(language, []).append(asked)
    return found


def main(arguments: Sequence[str]) -> None:
    """Print the figures, one line for each set and language."""
    print("set          language  requests  distinct-3  overlap  ten openings  description")
    sets = {"callwright": ours(Path(arguments[0]), arguments[1])}
    if len(arguments) > 2:  # noqa: PLR2004 - the third one may be left out
        sets["HammerBench"] = published(Path(arguments[2]))
    for name, by_language in sets.items():
        for language, asked in by_language.items():
            of = measure(asked)
            print(
                f"{name:<12} {language:<9} {of.requests:>8}  {of.distinct:>10.3f} "
                f" {of.overlap:>7.3f}  {of.openings:>11.0%}  {of.described:>11.0%}"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
