"""`review status` and `review suspects`: how far people are, and what they should look at again."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.flows.cli.screen import AsJson, present, show, show_json, show_table
from callwright.flows.settings import open_warehouse, read_settings

if TYPE_CHECKING:
    from datetime import datetime

    from callwright.flows.review.status import Status
    from callwright.warehouse.rows import Row


_COUNTS = ("to_push", "with_people", "reviewed", "outdated", "skipped", "drafts")
_ALWAYS = ("to_push", "with_people", "reviewed")
_DECISIONS = {"reviews": "reviews", "accept": "accepted", "edit": "edited", "reject": "rejected"}
_WHERE_KNOWN = {
    "on gold": "",
    "too fast": "in less time than anybody reads; the view fast_answers lists them",
    "not theirs": "answers that team.yaml gives to others",
}
_MINUTES = 60
_FEW = 10  # so many unsettled questions are reported one by one
_NEXT = 3
_ROOM = 54


def status(
    refresh: Annotated[bool, typer.Option("--server", help="Also ask Label Studio.")] = False, as_json: AsJson = False
) -> None:
    """Say what waits for people, who reviewed how much and how fast, and how much time and money is left to spend."""
    from callwright.flows.review.status import review_status

    found = review_status(read_settings(), ask_server=refresh)
    if as_json:
        show_json(found)
        return
    if not found["queue"]:
        show("Nobody has been asked about anything yet.")
        return
    _show_queue(found["queue"])
    if found["people"]:
        show("")
        _show_people(found["people"])
    show("")
    for line in _whole_lines(found):
        show(line)
    _show_unsettled(found["unsettled"])
    _show_next(found["next"])
    if refresh:
        show("")
        _show_servers(found["label_studio"])


def _show_queue(queue: "list[Row]") -> None:
    """A line for each kind and cause; what there is nothing of has no column."""
    columns = [name for name in _COUNTS if name in _ALWAYS or any(row[name] for row in queue)]
    rows: list[list[object]] = []
    for kind in dict.fromkeys(row["kind"] for row in queue):
        mine = [row for row in queue if row["kind"] == kind]
        rows.append([_words(kind), *(sum(row[name] for row in mine) for name in columns)])
        rows += [[f"  {row['cause']}", *(row[name] for name in columns)] for row in mine]
    show_table(["questions", *map(_words, columns)], rows)


def _show_people(people: "list[Row]") -> None:
    """A line for each person; what is known of nobody has no column."""
    columns: dict[str, list[object]] = {
        "reviewer": [row["reviewer"] for row in people],
        **{name: [row[column] for row in people] for name, column in _DECISIONS.items()},
        "seconds": [_rounded(row["median_seconds"]) for row in people],
        "an hour": [_rounded(row["reviews_an_hour"]) for row in people],
        "on gold": [_share(row) for row in people],
        "too fast": [row["fast_answers"] or "" for row in people],
        "not theirs": [row["outside"] or "" for row in people],
        "last active": [_day(row["last_active"]) for row in people],
    }
    shown = {name: cells for name, cells in columns.items() if name not in _WHERE_KNOWN or any(cells)}
    show_table(list(shown), [list(row) for row in zip(*shown.values(), strict=True)])
    for name, meaning in _WHERE_KNOWN.items():
        if meaning and name in shown:
            show(f"({name}: {meaning})")


def _whole_lines(found: "Status") -> Iterator[str]:
    [whole] = found["whole"]
    if not whole["questions"]:
        yield f"Nothing is left to answer. {_hours(whole['hours_so_far'])} of reviewing so far{_cost(whole['cost_so_far'])}."
        return
    yield (
        f"Left: {_count(whole['answers'], 'answer')} to {_count(whole['questions'], 'question')}, about "
        f"{_hours(whole['hours_left'])}{_cost(whole['cost_left'])}."
    )
    assumed = [_words(row["kind"]) for row in found["work_left"] if row["is_assumed"]]
    if assumed:
        yield f"  (nobody has answered a {' or '.join(assumed)} yet: {whole['assumed_seconds']:.0f} s each are assumed)"
    if whole["hours_so_far"]:
        yield f"So far: {_hours(whole['hours_so_far'])}{_cost(whole['cost_so_far'])}."


def _show_unsettled(rows: "list[Row]") -> None:
    """On what nothing counts yet: where people do not agree, or an edit in doubt has no second person; who could be asked."""
    if rows:
        show("")
        shown = [
            (row["subject"], _stated(row["decisions"]), ", ".join(row["others"]) or "somebody new")
            for row in rows[:_FEW]
        ]
        show_table(("unsettled", "said", "could be asked next"), shown)
        if len(rows) > _FEW:
            show(f"and {len(rows) - _FEW} more: --json lists them all.")


def _stated(decisions: "list[str]") -> str:
    return "edit, in doubt" if decisions == ["edit"] else " or ".join(decisions)


def _show_next(rows: "list[Row]") -> None:
    """The first few questions of each kind."""
    if rows:
        show("")
        kinds = [row["kind"] for row in rows]
        chosen = [row for place, row in enumerate(rows) if place - kinds.index(row["kind"]) < _NEXT]
        show_table(
            ("asked next", "place", "because"),
            [
                (_words(row["kind"]), f"{row['priority']:.2f}", _short(f"{row['cause']}: {row['reason']}"))
                for row in chosen
            ],
        )


def _show_servers(servers: "list[Row]") -> None:
    columns = ("project", "tasks", "finished", "annotations", "skipped")
    show_table(columns, [[row[column] for column in columns] for row in servers])


def suspects(
    release: Annotated[str, typer.Argument(help="The release whose samples are suspected.")], as_json: AsJson = False
) -> None:
    """List the samples whose gold may be wrong by what candidates answer, and ask people about those that are new.

    All candidates fail at the same call, or several give the very same answer against the gold and no fewer than are right. At
    least two candidates must have been evaluated on the release. `review push` asks; suspects are the first that people see.
    """
    from callwright.flows.review.asking_again import raise_suspicions

    found = raise_suspicions(open_warehouse(), release)
    if as_json:
        show_json({"release": release, "new": found.new, "suspects": found.suspects})
        return
    for one in found.suspects:
        show(f"{one.subject} {one.category} · {one.kind}{' · new' if one.is_new else ''}\n  {one.reason}")
    if not found.suspects:
        show(f"No sample of {release} is suspected.")
        return
    show(f"{_count(len(found.suspects), 'suspect')}, {found.new} of them new.")
    if found.new:
        show("`callwright review push` asks people about them, before all others.")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _rounded(number: float | None) -> int | None:
    return None if number is None else round(number)


def _share(row: "Row") -> str:
    return f"{row['gold_share']:.0%} of {row['gold_items']}" if row["gold_items"] else ""


def _day(moment: "datetime") -> str:
    return f"{moment.astimezone():%d %b %H:%M}"


def _hours(hours: float) -> str:
    minutes = round(hours * _MINUTES)
    return f"{hours:.1f} hours" if minutes >= _MINUTES else _count(minutes, "minute")


def _cost(cost: float | None) -> str:
    return "" if cost is None else f", {cost:.2f} US dollars"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _short(text: str) -> str:
    """As much of a text as a terminal of the usual width has room for; Chinese signs take two places."""
    from rich.cells import cell_len, set_cell_size

    line = " ".join(text.split())
    return line if cell_len(line) <= _ROOM else f"{set_cell_size(line, _ROOM - 1).rstrip()}…"


_MEASURES = ("observed", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha")
_SLICES = {"all": 0, "reviewer": 1, "pair": 2, "reason": 3}


def recheck(
    name: Annotated[
        str, typer.Argument(metavar="[RELEASE|RECIPE]", help="Of what to draw; without a name of all that is accepted.")
    ] = "",
    draw: Annotated[int, typer.Option("--draw", min=1, help="How many samples to look at again.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Another seed draws others.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Ask people about accepted samples again, drawn at random: what share of them is usable? `review agreement` tells."""
    from callwright.flows.review.asking_again import recheck as draw_again

    drawn = draw_again(read_settings(), name, draw=draw, seed=seed)
    of = f"the {drawn.scope} {drawn.name!r}" if drawn.name else "all recipes"
    lines = [
        f"{drawn.drawn} of {drawn.samples} accepted samples of {of} are drawn; {drawn.asked} questions about them are new."
    ]
    if drawn.asked:
        lines.append("`callwright review push` takes them to people.")
    present(drawn, *lines, as_json=as_json)


def agreement(as_json: AsJson = False) -> None:
    """Say how far reviewers agree, and models that read with them, how people do on gold items, and what share is usable."""
    from callwright.flows.review.status import agreement_report

    report = agreement_report(read_settings())
    if as_json:
        show_json(report)
        return
    if not any(report.values()):
        show("No two people have answered the same question yet, and nothing was drawn to be looked at again.")
    if report["agreement"]:
        show("agreement (1: always, 0: as by chance; empty where it is not defined):")
        show_table(["kind", "of", "who or what", "items", "people", *_MEASURES], _agreement_lines(report["agreement"]))
    tables = {"models that read against people": "readers", "gold items": "gold_items", "usable": "usable"}
    for title, table in ((title, report[name]) for title, name in tables.items()):
        if table:
            show(f"{title}:")
            show_table(list(table[0]), [list(row.values()) for row in table])


def _agreement_lines(rows: "list[Row]") -> list[list[object]]:
    """A line for each slice, its measures side by side."""
    slices: dict[tuple[str, int, str], dict[str, Row]] = {}
    for row in rows:
        slices.setdefault((row["kind"], _SLICES[row["slice_by"]], row["slice_value"]), {})[row["measure"]] = row
    lines: list[list[object]] = []
    for (kind, _, value), measures in sorted(slices.items()):
        one = next(iter(measures.values()))
        figures = [measures[name]["value"] if name in measures else None for name in _MEASURES]
        lines.append([kind, one["slice_by"], value, one["items"], one["reviewers"], *figures])
    return lines
