"""The pages of releases: leaderboards, slices, mistakes, answers, comparisons, contents."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from callwright.flows.pages.conversation import show_answer, show_pair
from callwright.flows.pages.look import Look, Query, page_number
from callwright.validators.metrics.ratios import paired_test, share_interval
from callwright.warehouse.batches import grouped
from callwright.warehouse.browsing import (
    ERROR_TYPES,
    ITEMS_A_PAGE,
    SHOWN,
    SLICES,
    ItemFilter,
    PairFilter,
    ReleaseContents,
    ReleaseDetail,
    compare,
    compare_tools,
    effect_sentence,
    find_items,
    list_boards,
    list_changes,
    read_contents,
    read_evaluation,
    read_release,
)
from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_SEPARATOR = "~"
_PARTS = 4
_USUAL = ("direct", "first")


class ShareInterval(NamedTuple):
    """A share with its interval."""

    value: float
    low: float
    high: float


class Contestant(NamedTuple):
    """One row of the view leaderboard: name, and the share right with its 95 % interval."""

    id: str
    name: str
    row: Row
    share: ShareInterval | None


class ErrorMap(NamedTuple):
    """One contestant's mistakes, counted by (kind, error type), and the tools that it confused."""

    contestant: Contestant
    kinds: list[str]
    types: list[str]
    counts: dict[tuple[str, str], int]
    confusions: list[Row]


def evaluations_page(look: Look, _query: Query) -> str:
    """Render all releases with their leaderboards."""
    releases = look.warehouse.rows(sql("evaluations.releases_asked"))
    return look.render("evaluations.html", releases=releases, boards=boards_of(look.warehouse))


def boards_of(warehouse: Warehouse) -> dict[str, list[Contestant]]:
    """Return the leaderboard of each release that was evaluated."""
    boards = grouped(list_boards(warehouse), itemgetter("release"))
    return {release: list(map(contestant_of, rows)) for release, rows in boards.items()}


def release_page(look: Look, _query: Query, name: str) -> str | None:
    """Render a release: leaderboard, slices and mistakes; None if there is no such release."""
    detail = read_evaluation(look.warehouse, name)
    if detail is None:
        return None
    board = [contestant_of(row) for row in detail.board]
    return look.render(
        "release.html",
        release=detail.release,
        made=list_changes(look.warehouse, name),
        board=board,
        slices=_slices(detail.slices, board),
        maps=[
            one for one in (_error_map(contestant, detail) for contestant in board) if one.counts
        ],
        metrics=_metrics(detail.metrics, board),
        passes=_named(detail.passes),
        means=_named(detail.means),
    )


def items_page(look: Look, query: Query, name: str) -> str | None:
    """Render items of a release, answers beside the calls due; None if there is no such release."""
    release = read_release(look.warehouse, name)
    if release is None:
        return None
    wanted = ItemFilter(
        **{field: query[field][:300] for field in ItemFilter._fields if query.get(field)}
    )
    page = page_number(query)
    item_page = find_items(look.warehouse, name, wanted, page)
    return look.render(
        "items.html",
        release=release,
        wanted=wanted._asdict(),
        contestant=contestant_name(wanted.contestant),
        items=[show_answer(row) for row in item_page.rows],
        total=item_page.total,
        page=page,
        pages=-(-item_page.total // ITEMS_A_PAGE),
    )


def compare_page(look: Look, query: Query, name: str) -> str | None:
    """Render two contestants of a release side by side; None if one doesn't exist."""
    release = read_release(look.warehouse, name)
    board = look.warehouse.rows(sql("evaluations.board", releases="release = $1"), [name])
    ids = [row["contestant"] for row in board]
    one, other = query.get("one", ""), query.get("other", "")
    if release is None or one not in ids or other not in ids:
        return None
    page, wanted = (
        page_number(query),
        PairFilter(one, other, query.get("passed", "")[:20], query.get("kind", "")[:100]),
    )
    comparison = compare(look.warehouse, name, wanted, page)
    counts = comparison.counts
    return look.render(
        "compare.html",
        release=release,
        one=one,
        other=other,
        names=(contestant_name(one), contestant_name(other)),
        counts=counts,
        shares=[
            share_of(counts["both_pass"] + counts[side], counts["samples"])
            for side in ("only_one", "only_other")
        ],
        test=paired_test(counts["only_one"], counts["only_other"]),
        kinds=[
            row | {"test": paired_test(row["only_one"], row["only_other"])}
            for row in comparison.kinds
        ],
        wanted=wanted._asdict(),
        items=[row | {"pair": show_pair(row["one"], row["other"])} for row in comparison.items],
        page=page,
        differing=comparison.differing,
        pages=-(-comparison.differing // ITEMS_A_PAGE),
    )


def tools_page(look: Look, query: Query, name: str) -> str | None:
    """Return the page of a candidate with changed tools: by metric, by tool, and confusions.

    Beside each tool stands what is changed of it. None if there is no such release or change.
    """
    release, tool_changes = read_release(look.warehouse, name), list_changes(look.warehouse, name)
    contestant = query.get("candidate"), query.get("strategy"), query.get("shown")
    chosen = [
        one
        for one in tool_changes
        if not any(contestant) or (one.candidate, one.strategy, one.tools_shown) == contestant
    ]
    if release is None or not chosen:
        return None
    tool_comparison = compare_tools(look.warehouse, name, chosen[0])
    words: dict[str, list[dict[str, str]]] = {}
    for row in tool_comparison.tools:
        words.setdefault(row["tool"], []).extend(row["words"])
    untold = [
        {"tool": tool, "shown_name": "", "samples": 0}
        for tool in words
        if tool not in {row["tool"] for row in tool_comparison.effects}
    ]
    return look.render(
        "tools.html",
        release=release,
        made=tool_changes,
        chosen=chosen[0],
        found=tool_comparison,
        sentence=effect_sentence(tool_comparison.whole) if tool_comparison.whole else "",
        words=words,
        changed=[row for row in tool_comparison.by_tool if row["tool"] in words],
        unasked=untold,
        others=[row for row in tool_comparison.by_tool if row["tool"] not in words],
        sides=[
            f"{tool_comparison.candidate}~{one}~{tool_comparison.tools_shown}~0"
            for one in (tool_comparison.plain_strategy, tool_comparison.strategy)
        ],
    )


def contestant_of(row: Row) -> Contestant:
    """Return a row of a leaderboard with its name and its share."""
    share = ShareInterval(*(row[one] for one in ("right_share", "right_low", "right_high")))
    name = contestant_name(row["contestant"])
    return Contestant(row["contestant"], name, row, share if row["n_judged"] else None)


def contestant_name(contestant: str) -> str:
    """Return the name of a contestant: the candidate, and whatever is unusual about its run."""
    parts = contestant.rsplit(_SEPARATOR, _PARTS - 1)
    if len(parts) < _PARTS:
        return contestant
    candidate, strategy, tools, run = parts
    extra = [] if strategy in _USUAL else [f"by {strategy}"]
    extra += [] if tools in _USUAL else ["all tools always"]
    extra += [] if run == "0" else [f"run {int(run) + 1}"]
    return ", ".join([candidate, *extra])


def share_of(right: int, judged: int) -> ShareInterval | None:
    """Return the share that is right with Wilson's 95 % interval; None if nothing was judged."""
    return ShareInterval(right / judged, *share_interval(right, judged)) if judged else None


def _slices(
    rows: Sequence[Row], board: Sequence[Contestant]
) -> list[tuple[str, list[tuple[str, list[ShareInterval | None]]]]]:
    """Return a share for each contestant, by slice and value, in the order of the board."""
    shares = {
        (row["slice_by"], row["slice_value"], row["contestant"]): share_of(
            row["n_right"], row["n_judged"]
        )
        for row in rows
    }
    values = {
        one: list(dict.fromkeys(row["slice_value"] for row in rows if row["slice_by"] == one))
        for one in SLICES
    }
    return [
        (
            one,
            [
                (value, [shares.get((one, value, contestant.id)) for contestant in board])
                for value in values[one]
            ],
        )
        for one in SLICES
        if len(values[one]) > 1 or one == SLICES[0] or (one == "split" and any(values[one]))
    ]


def error_types_of(rows: Iterable[Row]) -> list[str]:
    """Return the error types of mistakes, our own first, in their order."""
    found = {row["error_type"] for row in rows}
    return [*(one for one in ERROR_TYPES if one in found), *sorted(found.difference(ERROR_TYPES))]


def _error_map(contestant: Contestant, detail: ReleaseDetail) -> ErrorMap:
    mine = [row for row in detail.errors if row["contestant"] == contestant.id]
    types = error_types_of(mine)
    kinds = list(dict.fromkeys(row["kind"] for row in mine))
    counts = {(row["kind"], row["error_type"]): row["items"] for row in mine}
    confusions = [row for row in detail.confusions if row["contestant"] == contestant.id]
    return ErrorMap(contestant, kinds, types, counts, confusions)


def _metrics(
    rows: Sequence[Row], board: Sequence[Contestant]
) -> list[tuple[str, list[Row | None]]]:
    """Return the papers' metrics: one line per metric and judge, one score per contestant."""
    scores = {(row["metric"], row["judge"], _id_of(row)): row for row in rows}
    names = list(dict.fromkeys((row["metric"], row["judge"]) for row in rows))
    return [
        (
            f"{metric} by {judge}" if judge else metric,
            [scores.get((metric, judge, one.id)) for one in board],
        )
        for metric, judge in names
    ]


def _named(rows: Sequence[Row]) -> list[Row]:
    """Return rows of candidates with each one's name, whatever the run, and colour number."""
    names = [contestant_name(_id_of(row | {"run": 0})) for row in rows]
    places = list(dict.fromkeys(names))
    return [
        row | {"name": name, "colour": places.index(name)}
        for row, name in zip(rows, names, strict=True)
    ]


def _id_of(row: Row) -> str:
    return _SEPARATOR.join(
        str(row[name]) for name in ("candidate", "strategy", "tools_shown", "run")
    )


_GRADES = ("proved", "judged", "vouched")


class KindLine(NamedTuple):
    """The samples of a kind in a language: by split, in total, and by grade."""

    kind: str
    language: str
    splits: dict[str, int]
    samples: int
    grades: dict[str, int]


def contents_page(look: Look, _query: Query, name: str) -> str | None:
    """Render what a release holds; None if there is no such release."""
    contents = _read(look.warehouse, look.copied_at, name)
    if contents is None:
        return None
    lines = [
        KindLine(
            *key,
            {row["split"]: row["samples"] for row in mine},
            sum(row["samples"] for row in mine),
            {grade: sum(row[grade] for row in mine) for grade in _GRADES},
        )
        for key, mine in grouped(contents.kinds, lambda row: (row["kind"], row["language"])).items()
    ]
    known = {split for line in lines for split in line.splits if split}
    splits = [split for split in contents.state.release.splits if split in known]
    return look.render(
        "contents.html",
        contents=contents,
        release=contents.state.release,
        lines=lines,
        splits=splits,
        totals={split: sum(line.splits.get(split, 0) for line in lines) for split in splits},
        grades=_GRADES,
        shown=SHOWN,
    )


@lru_cache(maxsize=8)
def _read(warehouse: Warehouse, _copied_at: object, name: str) -> ReleaseContents | None:
    """Return a release's contents; cached per copy, because large ones take seconds.

    The release is compared with its manifest and the one before it.
    """
    return read_contents(warehouse, name)
