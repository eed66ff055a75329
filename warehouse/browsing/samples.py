"""Samples as the page looks for them: by words and filters, page by page, and one with all that is known of it."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row, RowPage
from callwright.warehouse.store import Warehouse

SampleState = Literal["landed", "waiting", "rejected", "withdrawn", "other"]
PAGE = 50


class SampleFilter(NamedTuple):
    """What is looked for; "" asks for nothing. `words` must all stand in the sample, or begin its key.

    `tool` is called by the sample, `check` doubts it, `reviewer` has spoken about it, and somebody for a `reason`; `build` is a
    key, or NEWEST for the newest of each recipe; `release` is a name, or name:split.
    """

    words: str = ""
    kind: str = ""
    language: str = ""
    category: str = ""
    tool: str = ""
    grade: str = ""
    state: str = ""
    check: str = ""
    build: str = ""
    reviewer: str = ""
    release: str = ""
    reason: str = ""


class SampleDetail(NamedTuple):
    """One sample with the rows that speak of it; `ancestors` and `children` are one row for each link."""

    sample: Row
    tools: list[Row]
    verdicts: list[Row]
    outcomes: list[Row]
    reviews: list[Row]
    ancestors: list[Row]
    children: list[Row]
    releases: list[Row]
    calls: list[Row]
    prompts: list[Row]


NEWEST = "newest"
_OF_A_SAMPLE = tuple(name for name in SampleDetail._fields if name != "prompts")


def find_samples(warehouse: Warehouse, wanted: SampleFilter, page: int = 0, size: int = PAGE) -> RowPage:
    """The samples that `wanted` lets through, in the order of their keys, which is no order at all."""
    condition, values = _where(wanted)
    found = warehouse.rows_by_name(
        {
            "rows": (sql("samples.found", condition=condition), [*values, size, page * size]),
            "total": (sql("samples.counted", condition=condition), values),
        }
    )
    return RowPage(found["rows"], found["total"][0]["samples"])


def choose_samples(warehouse: Warehouse, most: int) -> list[str]:
    """The keys of at most so many samples, spread over kinds and languages.

    First come those that candidates got wrong or people were asked about.
    """
    rows = warehouse.rows(sql("samples.spread"), [most])
    return [row["key"] for row in rows]


def samples_of(warehouse: Warehouse, keys: Sequence[str]) -> list[Row]:
    """These samples as a list shows them, each with the values of all filters that let it through (`facets`)."""
    return warehouse.rows(sql("samples.of_keys"), [list(keys)])


def neighbours(warehouse: Warehouse, wanted: SampleFilter, key: str) -> tuple[str, str]:
    """The keys before and after `key` among the samples that `wanted` lets through, "" at the ends."""
    condition, values = _where(wanted)
    row = warehouse.rows(sql("samples.neighbours", condition=condition), [*values, key, *values, key])[0]
    return row["before"] or "", row["after"] or ""


def filter_choices(warehouse: Warehouse) -> dict[str, list[Row]]:
    """What each filter can be set to, with the number of samples."""
    choices: dict[str, list[Row]] = {}
    for row in warehouse.rows(sql("samples.choices")):
        choices.setdefault(row["field"], []).append(row)
    return choices


def read_sample(warehouse: Warehouse, key: str) -> SampleDetail | None:
    """A sample with all that is known of it, None where there is none."""
    found = warehouse.rows_by_name({name: (sql(f"samples.{name}"), [key]) for name in _OF_A_SAMPLE})
    if not found["sample"]:
        return None
    versions = sorted({one for row in found["ancestors"] for one in row["prompt_version"].split("+")})
    found["prompts"] = warehouse.rows("select * from prompts where list_contains(?::varchar[], version)", [versions])
    return SampleDetail(found["sample"][0], **{name: rows for name, rows in found.items() if name != "sample"})


def _where(wanted: SampleFilter) -> tuple[str, Sequence[Any]]:
    """The condition on `samples s` and its values."""
    clauses, values = ["true"], list[Any]()
    for name in SampleFilter._fields:
        value = getattr(wanted, name)
        if value and name not in ("words", "state"):
            clauses.append(sql(f"samples.where_{name}"))
            values += [f'"tool":"{value}"'] * 2 if name == "tool" else [value]
    if wanted.state:
        clauses.append(sql(f"samples.state_{wanted.state if wanted.state in get_args(SampleState) else 'other'}"))
    for word in wanted.words.split():
        clauses.append(
            "(contains(lower(s.request), ?) or starts_with(s.key, ?) or contains(lower(s.gold::varchar), ?))"
        )
        values += [word.lower()] * 3
    return " and ".join(clauses), values
