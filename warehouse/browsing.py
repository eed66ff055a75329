"""Queries of the web page: samples, evaluations, changed tools, builds, releases, summary."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Literal, NamedTuple, get_args

import orjson

from callwright.warehouse.batches import grouped
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import ToolsShown
from callwright.warehouse.releases import ReleaseDiff, ReleaseState, diff_releases, verify_release
from callwright.warehouse.rows import Row, RowPage
from callwright.warehouse.store import Queries, Warehouse

SampleState = Literal["landed", "waiting", "rejected", "withdrawn", "other"]
PAGE = 50


class SampleFilter(NamedTuple):
    """What to look for; "" sets no condition.

    `words` must all occur in the sample, or begin its key.

    `tool` is called by the sample, `check` doubts it, `reviewer` has commented on it, and
    `reason` is one that somebody gave; `build` is a key, or NEWEST for the newest of each
    recipe; `release` is a name, or name:split.
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
    """One sample with its rows; `ancestors` and `children` are by link, `answers` wrong first."""

    sample: Row
    tools: list[Row]
    verdicts: list[Row]
    outcomes: list[Row]
    reviews: list[Row]
    ancestors: list[Row]
    children: list[Row]
    releases: list[Row]
    calls: list[Row]
    answers: list[Row]
    prompts: list[Row]


NEWEST = "newest"
_OF_A_SAMPLE = tuple(name for name in SampleDetail._fields if name != "prompts")


def find_samples(
    warehouse: Warehouse, wanted: SampleFilter, page: int = 0, size: int = PAGE
) -> RowPage:
    """Return the samples that `wanted` lets through, ordered by key, which is arbitrary."""
    condition, values = _where(wanted)
    queries = {
        "rows": (sql("samples.found", condition=condition), [*values, size, page * size]),
        "total": (sql("samples.counted", condition=condition), values),
    }
    page_rows = warehouse.rows_by_name(queries)
    return RowPage(page_rows["rows"], page_rows["total"][0]["samples"])


def choose_samples(warehouse: Warehouse, most: int) -> list[str]:
    """Return the keys of at most `most` samples, spread over kinds and languages.

    Samples that candidates got wrong or people were asked about come first.
    """
    return [row["key"] for row in warehouse.rows(sql("samples.spread"), [most])]


def samples_of(warehouse: Warehouse, keys: Sequence[str]) -> list[Row]:
    """Return these samples as a list shows them, each with its filter values (`facets`)."""
    return warehouse.rows(sql("samples.of_keys"), [list(keys)])


def neighbours(warehouse: Warehouse, wanted: SampleFilter, key: str) -> tuple[str, str]:
    """Return the keys before and after `key` among the samples in `wanted`, "" at the ends."""
    condition, values = _where(wanted)
    asked = sql("samples.neighbours", condition=condition)
    [row] = warehouse.rows(asked, [*values, key, *values, key])
    return row["before"] or "", row["after"] or ""


def filter_choices(warehouse: Warehouse) -> dict[str, list[Row]]:
    """Return the possible values of each filter, with the number of samples."""
    return grouped(warehouse.rows(sql("samples.choices")), itemgetter("field"))


def read_samples(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, SampleDetail]:
    """Return samples with everything known about them, by key, with one query per field."""
    if not keys:
        return {}
    places = ", ".join(f"${place}" for place in range(1, len(keys) + 1))
    queries = {name: (sql(f"samples.{name}", places=places), keys) for name in _OF_A_SAMPLE}
    rows_by_field = warehouse.rows_by_name(queries)
    asked = {
        version
        for row in rows_by_field["ancestors"]
        for version in row["prompt_version"].split("+")
    }
    prompt_rows = warehouse.rows(
        "select * from prompts where list_contains(?::varchar[], version) order by name, version",
        [sorted(asked)],
    )
    samples = rows_by_field.pop("sample")
    of_samples = {
        name: grouped(rows, itemgetter("of_sample")) for name, rows in rows_by_field.items()
    }
    details = {}
    for row in samples:
        own = {name: rows.get(row["key"], []) for name, rows in of_samples.items()}
        parts = (one["prompt_version"].split("+") for one in own["ancestors"])
        versions = {version for some in parts for version in some}
        prompts = [one for one in prompt_rows if one["version"] in versions]
        details[row["key"]] = SampleDetail(row, **own, prompts=prompts)
    return details


def _where(wanted: SampleFilter) -> tuple[str, Sequence[Any]]:
    """Return the condition on `samples s` and its values."""
    clauses, values = ["true"], list[Any]()
    for name in SampleFilter._fields:
        value = getattr(wanted, name)
        if value and name not in ("words", "state"):
            clauses.append(sql(f"samples.where_{name}"))
            values += [f'"tool":"{value}"'] * 2 if name == "tool" else [value]
    if wanted.state:
        state = wanted.state if wanted.state in get_args(SampleState) else "other"
        clauses.append(sql(f"samples.state_{state}"))
    holds = (
        "(contains(lower(s.request), ?) or starts_with(s.key, ?) or"
        " contains(lower(s.gold::varchar), ?))"
    )
    for word in wanted.words.split():
        clauses.append(holds)
        values += [word.lower()] * 3
    return " and ".join(clauses), values


ITEMS_A_PAGE = 20
SLICES = ("kind", "language", "category", "split")
# From the worst on.
ERROR_TYPES: tuple[str, ...] = (
    "unparseable",
    "called_when_none_fits",
    "refused",
    "wrong_tool",
    "missing_argument",
    "hallucinated_argument",
    "wrong_value",
)


class ItemFilter(NamedTuple):
    """Which items of a release to look for; "" sets no condition.

    `verdict` is right, wrong or unjudged.

    `due` and `called` are two tools, the second called instead of the first, with "no call" for
    none. The worst items come first unless `order` is sample.
    """

    contestant: str = ""
    kind: str = ""
    language: str = ""
    category: str = ""
    split: str = ""
    error: str = ""
    verdict: str = ""
    due: str = ""
    called: str = ""
    order: str = ""


class PairFilter(NamedTuple):
    """Items answered by two contestants: that differ, or `passed` by one, other, both, neither."""

    one: str
    other: str
    passed: str = ""
    kind: str = ""


class ReleaseDetail(NamedTuple):
    """A release with its leaderboard (a row a contestant), slices, mistakes and papers' metrics.

    `confusions` are the tools that were called in place of others. `passes` and `means` are for
    contestants asked several times: pass^k, and their metrics over all runs.
    """

    release: Row
    board: list[Row]
    slices: list[Row]
    errors: list[Row]
    confusions: list[Row]
    metrics: list[Row]
    passes: list[Row]
    means: list[Row]


class Comparison(NamedTuple):
    """Two contestants on common samples: passes by kind, and differing items.

    A sample is passed if each of its items is right.
    """

    counts: Row
    kinds: list[Row]
    items: list[Row]
    differing: int


_ONE = "release = $1"
_COLUMNS = {name: name for name in ("contestant", *SLICES)} | {"error": "error_type"}
_VERDICTS = {"right": "verdict", "wrong": "not verdict", "unjudged": "verdict is null"}
_PASSED = {
    "one": "one_right and not other_right",
    "other": "other_right and not one_right",
    "both": "one_right and other_right",
    "neither": "not one_right and not other_right",
}


def list_boards(warehouse: Warehouse) -> list[Row]:
    """Return the leaderboards of all releases: one row per contestant."""
    return warehouse.rows(sql("evaluations.board", releases="true"))


def read_release(warehouse: Warehouse, name: str) -> Row | None:
    """Return a release by its name, or None."""
    return next(iter(warehouse.rows("select * from releases where name = ?", [name])), None)


def read_evaluation(warehouse: Warehouse, name: str) -> ReleaseDetail | None:
    """Return a release with its leaderboard, or None if there is no such release."""
    fields = ReleaseDetail._fields
    queries = {field: (sql(f"evaluations.{field}", releases=_ONE), [name]) for field in fields}
    found = warehouse.rows_by_name(queries)
    return ReleaseDetail(found.pop("release")[0], **found) if found["release"] else None


def find_items(warehouse: Warehouse, release: str, wanted: ItemFilter, page: int = 0) -> RowPage:
    """Return the items of a release that match the filter."""
    chosen = {column: getattr(wanted, name) for name, column in _COLUMNS.items()}
    filters = {column: value for column, value in chosen.items() if value}
    clauses = [f"{column} = ${place}" for place, column in enumerate(filters, 2)]
    clauses.append(_VERDICTS.get(wanted.verdict, "true"))
    values = [release, *filters.values()]
    if wanted.due and wanted.called:
        places = {"due": f"${len(values) + 1}", "called": f"${len(values) + 2}"}
        clauses.append(sql("evaluations.confused_tools", releases=_ONE, **places))
        values += [wanted.due, wanted.called]
    first = "by_sample" if wanted.order == "sample" else "worst_first"
    order = sql(f"evaluations.{first}", severity=[*ERROR_TYPES])
    parts = {"condition": " and ".join(clauses), "order": order, "size": ITEMS_A_PAGE}
    asked = sql("evaluations.found", releases=_ONE, start=page * ITEMS_A_PAGE, **parts)
    found = warehouse.rows(asked, values)
    rows = _shown(warehouse, [row["prediction"] for row in found])
    return RowPage(rows, found[0]["total"] if found else 0)


def compare(warehouse: Warehouse, release: str, wanted: PairFilter, page: int = 0) -> Comparison:
    """Return two contestants on a release's judged items that both answered, and wanted items."""
    condition = _PASSED.get(wanted.passed, "one_right <> other_right")
    condition += " and kind = $4" if wanted.kind else ""
    parts = {"condition": condition, "size": ITEMS_A_PAGE, "start": page * ITEMS_A_PAGE}
    both = [release, wanted.one, wanted.other]
    pair_values = [*both, wanted.kind] if wanted.kind else both
    values = {
        "counts": both,
        "kinds": both,
        "differing": pair_values,
        "differing_items": pair_values,
    }
    queries = {
        name: (sql(f"evaluations.{name}", releases=_ONE, **parts), given)
        for name, given in values.items()
    }
    pair_rows = warehouse.rows_by_name(queries)
    differing = pair_rows["differing_items"]
    both_sides = [row[side] for row in differing for side in ("one", "other")]
    shown = {row["prediction"]: row for row in _shown(warehouse, both_sides)}
    items = [row | {"one": shown[row["one"]], "other": shown[row["other"]]} for row in differing]
    return Comparison(
        pair_rows["counts"][0], pair_rows["kinds"], items, pair_rows["differing"][0]["items"]
    )


def _shown(warehouse: Warehouse, predictions: Sequence[str]) -> list[Row]:
    """Return items as they are shown, in this order."""
    if not predictions:
        return []
    places = ", ".join("?" * len(predictions))
    rows = warehouse.rows(sql("evaluations.of_predictions", places=places), predictions)
    by_key = {row["prediction"]: row for row in rows}
    return [by_key[key] for key in predictions if key in by_key]


OUTCOMES = ("passed", "rejected", "failed", "waiting")


class BuildDetail(NamedTuple):
    """One build with its funnel; `earlier` is the recipe's build before it, None if it is first."""

    build: Row
    earlier: Row | None
    funnel: list[Row]
    personal: list[Row]
    cost: list[Row]
    kinds: list[Row]
    left_out: list[Row]
    readers: list[Row]
    people: list[Row]
    reasons: list[Row]


def list_builds(warehouse: Warehouse) -> list[Row]:
    """Return all builds, newest first."""
    return warehouse.rows(sql("builds.newest_first"))


def read_build(warehouse: Warehouse, key: str) -> BuildDetail | None:
    """Return a build with its funnel, or None."""
    queries = {name: (sql(f"builds.{name}"), [key]) for name in BuildDetail._fields}
    build_rows = warehouse.rows_by_name(queries)
    if not build_rows["build"]:
        return None
    build, earlier = build_rows.pop("build")[0], next(iter(build_rows.pop("earlier")), None)
    return BuildDetail(build, earlier, **build_rows)


def read_build_row(warehouse: Warehouse, key: str) -> Row | None:
    """Return a build by its key, or None."""
    return next(iter(warehouse.rows("select key, recipe from builds where key = ?", [key])), None)


def read_drift(warehouse: Warehouse, build: str, earlier: str) -> list[Row]:
    """Return how a build's shares differ from those of an earlier build.

    The shares are by kind, language, category, grade and called tool; for stages, the share that
    passes.
    """
    both = [build, earlier]
    names = ("builds.drift", "builds.drift_of_stages")
    return [row for name in names for row in warehouse.rows(sql(name), both)]


def find_outcomes(
    warehouse: Warehouse, build: str, stage: str, outcome: str, page: int = 0
) -> RowPage:
    """Return the outcomes of a build's records at a stage; "" means any stage or outcome."""
    values = [build, stage, outcome]
    queries: Queries = {
        "rows": (sql("builds.outcomes", page_size=PAGE), [*values, page * PAGE]),
        "total": (sql("builds.outcomes_in_all"), values),
    }
    outcome_rows = warehouse.rows_by_name(queries)
    return RowPage(outcome_rows["rows"], outcome_rows["total"][0]["records"])


SHOWN = 50
_QUERIES = ("kinds", "leakage", "duplicates", "versions")


class ReleaseContents(NamedTuple):
    """A release with its contents; `versions` are it and those before it, newest first.

    `difference` is None if no earlier version still exists.
    """

    state: ReleaseState
    kinds: list[Row]
    leakage: list[Row]
    duplicates: list[Row]
    near_duplicates: int
    versions: list[Row]
    difference: ReleaseDiff | None


def read_contents(warehouse: Warehouse, name: str) -> ReleaseContents | None:
    """Return what a release holds and whether it is still what was frozen, None if unknown."""
    try:
        state = verify_release(warehouse, name)
    except ConfigurationError:
        return None
    queries = {one: (sql(f"release_contents.{one}", most=SHOWN), [name]) for one in _QUERIES}
    content_rows = warehouse.rows_by_name(queries)
    has_earlier = len(content_rows["versions"]) > 1
    near = content_rows["duplicates"][0]["total"] if content_rows["duplicates"] else 0
    earlier = content_rows["versions"][1]["name"] if has_earlier else ""
    difference = diff_releases(warehouse, earlier, name) if has_earlier else None
    return ReleaseContents(state, **content_rows, near_duplicates=near, difference=difference)


READ = 10


class SummaryRows(NamedTuple):
    """The rows behind each section; `samples` are those worth reading, each with its reason."""

    builds: list[Row]
    funnel: list[Row]
    accepted: list[Row]
    categories: list[Row]
    grades: list[Row]
    repeated: list[Row]
    superseded: list[Row]
    readers: list[Row]
    people: list[Row]
    checks: list[Row]
    audits: list[Row]
    unseen: list[Row]
    arguments: list[Row]
    kinds: list[Row]
    answers: list[Row]
    domains: list[Row]
    parameter_types: list[Row]
    steps: list[Row]
    cost: list[Row]
    samples: list[Row]


def read_summary(warehouse: Warehouse) -> SummaryRows:
    """Return the rows of every section, from one state of the warehouse."""
    queries = {name: (sql(f"summary.{name}", read=READ), ()) for name in SummaryRows._fields}
    return SummaryRows(**warehouse.rows_by_name(queries))


DAYS = 14
_REVIEW_FACTS = ("days", "gold", "usable", "reasons")


def read_review_facts(warehouse: Warehouse) -> dict[str, list[Row]]:
    """Return reviews by day and person, answers to gold items, usable samples, and rejections.

    Usable samples are among those drawn; rejections come with their reasons.
    """
    queries = {name: (sql(f"review_facts.{name}", days=DAYS), ()) for name in _REVIEW_FACTS}
    return warehouse.rows_by_name(queries)


class ToolComparison(NamedTuple):
    """A candidate with changed tools compared with the original tools on the same samples.

    `effects` are rows of the view changed_tool_effects, the first over all samples; empty if the
    candidate was not asked with the original tools. `confusions` are the pairs of tools that are
    mixed up `before` and `after`; `metrics` has all figures in the same form.
    """

    candidate: str
    strategy: str
    plain_strategy: str
    tools_shown: ToolsShown
    split: str
    effects: list[Row]
    confusions: list[Row]
    metrics: list[Row]
    tools: list[Row]

    @property
    def whole(self) -> Row | None:
        """The effect over all samples, or None if there is nothing to compare with."""
        return self.effects[0] if self.effects else None

    @property
    def by_tool(self) -> list[Row]:
        """The effect by tool, largest change first."""
        return self.effects[1:]


class MadeChange(NamedTuple):
    """Changed tools that a candidate was asked with under a strategy.

    `is_paired`: it was asked with the original tools too.
    """

    strategy: str
    plain_strategy: str
    name: str
    candidate: str
    tools_shown: ToolsShown
    is_paired: bool


def list_changes(warehouse: Warehouse, release: str) -> list[MadeChange]:
    """Return all tool changes that a release was evaluated with, by candidate, newest first."""
    rows = warehouse.rows(sql("tool_changes.made"), [release])
    return [MadeChange(**{name: row[name] for name in MadeChange._fields}) for row in rows]


def compare_tools(
    warehouse: Warehouse, release: str, change: MadeChange, split: str = ""
) -> ToolComparison:
    """Return the effect of a change on a candidate's answers, on a release or one split of it."""
    of = [release, change.candidate, change.strategy, change.tools_shown]
    queries = {
        "effects": (sql("tool_changes.effects"), [*of, split]),
        "confusions": (sql("tool_changes.confusions"), of),
        "metrics": (sql("tool_changes.metrics"), [*of, split]),
        "tools": (sql("tool_changes.tools"), [release, change.strategy]),
    }
    change_rows = warehouse.rows_by_name(queries)
    for row in change_rows["tools"]:
        row |= {name: orjson.loads(row[name]) for name in ("words", "shown")}
    return ToolComparison(
        change.candidate,
        change.strategy,
        change.plain_strategy,
        change.tools_shown,
        split,
        **change_rows,
    )


def effect_sentence(row: Row) -> str:
    """Return an effect in words: samples it makes right or wrong, and whether it may be chance."""
    chance = "may well be chance" if row["p_value"] >= 0.05 else "is unlikely to be chance"  # noqa: PLR2004 - the usual bound
    return (
        f"{row['better']} of {row['samples']} samples are right only with the changed tools,"
        f" {row['worse']} only with the original ones: a difference of {row['difference']:+.3f} (95"
        f" %: {row['low']:+.3f} to {row['high']:+.3f}), p = {row['p_value']:.4f}; the difference"
        f" {chance} (McNemar's exact test)."
    )
