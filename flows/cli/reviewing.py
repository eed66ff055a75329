"""`review`: Label Studio, people's decisions in it, their progress, and what to look at again."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from callwright.flows.api.options import Again
from callwright.flows.cli.screen import (
    AsJson,
    CommandResult,
    Host,
    Port,
    Terminal,
    TextTable,
    command,
    commands,
    present,
    run_shown,
    say,
    show_event,
    table_of,
)
from callwright.flows.loops import run_loop
from callwright.flows.options import Option
from callwright.flows.settings import open_warehouse, read_settings
from callwright.warehouse.counts import count_of

if TYPE_CHECKING:
    from callwright.flows.review.pulling import Pulled
    from callwright.flows.review.pushing import TrainingAnswer
    from callwright.flows.review.status import Status
    from callwright.warehouse.rows import Row

app = commands()
review = commands("Send samples to reviewers, and take their answers back.")
app.add_typer(review, name="review")
_ALSO_PULLED = {
    "resumed": "edits that an interrupted pull had left were checked.",
    "returned": ("can't be used as typed and went back to reviewers as new tasks, which say why."),
    "contradicted": (
        "edited samples wait for a second reviewer: a check contradicts them, or none can decide."
    ),
    "withdrawn": (
        "earlier reviews no longer count: their annotations were deleted, skipped or changed"
        " by others."
    ),
    "deleted": "tasks were deleted; those that nobody had decided are pushed again.",
    "elsewhere": "annotations of samples that another work folder pushed were left to it.",
}
_COUNTS = ("to_push", "with_people", "reviewed", "outdated", "skipped", "drafts")
_ALWAYS = ("to_push", "with_people", "reviewed")
_DECISIONS = {
    "reviews": "n_reviews",
    "accept": "n_accepted",
    "edit": "n_edited",
    "reject": "n_rejected",
}
_WHERE_KNOWN = {
    "on gold": "",
    "too fast": "answered faster than anybody reads; the view fast_answers lists these answers",
    "not theirs": "answers to questions that team.yaml assigns to others",
}
_MINUTES = 60
_FEW = 10  # so many unsettled questions are reported one by one
_NEXT = 3
_ROOM = 54  # columns of a reason
_ROOM_BESIDE = 38  # of what people said, beside a key and a decision


@command(review, "serve", "review serve")
def serve(*, host: str = "127.0.0.1", port: int = 0, url: str = "") -> CommandResult:
    """Start a local Label Studio in the background, or find the one that is running.

    It is installed into an environment of its own and keeps its data in SQLite.

    Args:
        host: The address to listen on. 0.0.0.0 makes it reachable from other machines.
        port: The port to listen on. 0: the last one used, or a free one.
        url: The address that reviewers use, if there is a TLS proxy in front of it.
    """
    from callwright.annotation.studio.server import StudioAddress
    from callwright.flows.review.servers import serve_label_studio

    server = serve_label_studio(read_settings(), say, StudioAddress(host, port, url))
    if host not in {"127.0.0.1", "localhost"}:
        say(
            f"Warning: anyone who can reach {host} can open the sign-in page, and passwords"
            " and answers are sent unencrypted. Put a TLS proxy in front of it"
            " (docs/reviewing.md)."
        )
    value = {
        "url": server.url,
        "username": server.username,
        "password": server.password,
        "pid": server.pid,
    }
    lines = f"Label Studio: {server.url}\nuser: {server.username}\npassword: {server.password}"
    return CommandResult(value, [lines, "Stop it with: callwright review stop"])


@command(review, "stop", "review stop")
def stop() -> CommandResult:
    """Stop the local Label Studio. Its data are kept."""
    from callwright.flows.review.servers import stop_label_studio

    stopped = stop_label_studio(read_settings())
    text = (
        "Label Studio stopped." if stopped else "No Label Studio of this work folder was running."
    )
    return CommandResult({"stopped": stopped}, text)


@command(review, "push", "review push", begins="Looking for questions to send")
def push(*, again: Again = False) -> CommandResult:
    """Send waiting questions to Label Studio. Nothing is sent twice."""
    from callwright.flows.review.pushing import push_reviews
    from callwright.flows.review.servers import require_label_studio

    settings = read_settings()
    with require_label_studio(settings) as studio:
        result = run_shown(
            "push-reviews",
            "all recipes",
            lambda progress: push_reviews(settings, studio, progress, again=again),
        )
    there = f" ({result.already_there} were there already)" if result.already_there else ""
    pushed = f"{count_of(result.created, 'task')} sent{there}: {result.url}"
    nothing = f"There is nothing to send. Open questions are at {result.url}"
    return CommandResult(result, pushed if result.created or there else nothing)


@command(review, "pull", "review pull", begins="Looking for new answers")
def pull(*, every: Annotated[float, Option(least=0)] = 0, as_json: AsJson = False) -> None:
    """Take back what reviewers decided.

    Edited samples are checked again before they are accepted.

    Args:
        every: Repeat every N seconds until Ctrl-C. Default: pull once. `deploy` schedules pulls.
    """
    from callwright.flows.review.listening import poll_reviews
    from callwright.flows.review.pulling import pull_reviews
    from callwright.flows.review.servers import require_label_studio

    settings = read_settings()

    def tell(result: "Pulled") -> None:
        present(CommandResult(result, pulled_lines(result)), as_json=as_json)

    if every:
        with Terminal() as screen:
            poll_reviews(settings, screen, every, tell)
        return
    with require_label_studio(settings) as studio:
        result = run_shown(
            "pull-reviews",
            "all recipes",
            lambda progress: run_loop(pull_reviews(settings, studio, progress)),
        )
    tell(result)


def pulled_lines(result: "Pulled") -> Iterator[str]:
    """Yield what a pull brought, in sentences."""
    decided = f"{result.accepted} accepted, {result.edited} edited, {result.rejected} rejected"
    yield (
        f"{count_of(result.reviews, 'new review')}: {decided}."
        if result.reviews
        else "No new reviews."
    )
    for name, sentence in _ALSO_PULLED.items():
        if count := getattr(result, name):
            yield f"{count} {sentence}"
    yield from result.problems


@command(review, "listen", "review listen --url http://192.0.2.7:8123/ --host 0.0.0.0 --port 8123")
def listen(
    *,
    host: Host = "127.0.0.1",
    port: Port = 0,
    url: str = "",
    remove: bool = False,
    as_json: AsJson = False,
) -> None:
    """Listen for Label Studio's webhooks, and pull two seconds after a reviewer did something.

    Ctrl-C stops it.

    Args:
        url: The URL under which Label Studio reaches this server. It is registered there, with the
            secret.
        remove: Remove the webhooks instead of listening.
    """
    from callwright.flows.review import listening
    from callwright.flows.review.servers import require_label_studio

    settings = read_settings()
    with Terminal() as screen, require_label_studio(settings) as studio:
        if remove:
            removed = listening.remove_webhooks(studio)
            present(
                CommandResult({"removed": removed}, f"{count_of(removed, 'webhook')} removed."),
                as_json=as_json,
            )
            return
        if url:
            projects = listening.register_webhooks(settings, studio, url)
            screen.say(
                f"{count_of(projects, 'project reports', 'projects report')} changes at"
                f" {studio.url} to {url} from now on."
            )

        def ready(address: str) -> None:
            told = (
                f"Listening on {address}. The secret is in {listening.secret_place(settings)}. Stop"
                " the server with Ctrl-C."
            )
            show_event({"address": address}, [told], as_json=as_json)

        def brought(pulled: "Pulled") -> None:
            show_event(pulled, pulled_lines(pulled), as_json=as_json)

        callbacks, address = (
            listening.Callbacks(ready, brought),
            listening.ListeningAddress(host, port),
        )
        with suppress(KeyboardInterrupt):
            run_loop(
                listening.listen(settings, studio, screen, address=address, callbacks=callbacks)
            )
        screen.say("Server stopped.")


@command(review, "audit", "review audit v1 --draw 100", begins="Reading the answers")
def audit(
    release: str, *, model: Sequence[str] = (), draw: Annotated[int, Option(least=1)] = 50
) -> CommandResult:
    """Draw answers of candidates, for reviewers to say whether the metric is right about them.

    `callwright review push` sends them. The same number is drawn of each error type and of the
    right answers, as far as there are enough, and within a type of each model. So rare mistakes are
    audited too; the view metric_audit has the shares. The same answers always give the same draw.
    Runs of multi-step samples are not drawn.

    Args:
        release: The release whose answers to audit.
        model: Only answers of this candidate, by its label. Repeatable.
        draw: The number of answers to draw in all, with those drawn before.
    """
    from callwright.flows.review.asking_again import draw_audits

    drawn = draw_audits(release, read_settings(), model, draw)
    rows = [(error or "right", count) for error, count in sorted(drawn.by_error_type.items())]
    counts = (
        f"{drawn.drawn} of {count_of(drawn.answers, 'answer')} to {release} drawn, {drawn.new} of"
        " them now."
    )
    next_step = ["Send them to reviewers with `callwright review push`."] if drawn.new else []
    return CommandResult(
        drawn, [counts, TextTable(("what the metric says", "drawn"), rows), *next_step]
    )


@command(review, "training", "review training --items 10", begins="Reading the training items")
def training(
    *, items: Annotated[int, Option(least=1)] = 10, results: bool = False, reviewer: str = ""
) -> CommandResult:
    """Send items with known answers to a training project for new reviewers.

    Half of the items are correct, half have a defect. Each reviewer answers each item once; `review
    pull` takes the answers back and --results shows them. They count in no statistics about
    reviewers.

    Args:
        items: The number of training items in all, with those sent before.
        results: Show the results instead of sending items.
        reviewer: With --results, only this reviewer (an e-mail address).
    """
    from callwright.flows.review.pushing import push_training, training_answers
    from callwright.flows.review.servers import require_label_studio

    settings = read_settings()
    if results:
        found = training_answers(open_warehouse(settings), reviewer)
        return CommandResult(found, training_lines(found))
    with Terminal() as screen, require_label_studio(settings) as studio:
        pushed = push_training(settings, studio, screen, items)
    sent = f"{count_of(pushed.created, 'training item')} sent"
    words = f"{sent} ({pushed.already_there} were there already): {pushed.url}"
    return CommandResult(pushed, words)


def training_lines(found: "Sequence[TrainingAnswer]") -> Iterator[str]:
    """Yield what each person got right, and the right answer of each item."""
    if not found:
        yield "No answers to training items have been pulled yet."
    for person in dict.fromkeys(one.reviewer for one in found):
        mine = [one for one in found if one.reviewer == person]
        yield f"{person}: {sum(one.is_right for one in mine)} of {len(mine)} right."
        for training_answer in mine:
            defect = training_answer.defect.replace("_", " ")
            was = "correct"
            if defect:
                was = f"wrong ({defect}); the right answer is {training_answer.right}"
            yield (
                f"  {'right' if training_answer.is_right else 'WRONG'}  {training_answer.decision} "
                f" {training_answer.request}\n         It was {was}."
            )


@command(review, "recheck", "review recheck v1 --draw 100")
def recheck(
    name: Annotated[str, Option(metavar="[RELEASE|RECIPE]")] = "",
    *,
    draw: Annotated[int, Option(least=1)] = 100,
    seed: int = 0,
) -> CommandResult:
    """Ask reviewers about random accepted samples again, to measure the share that is usable.

    `callwright review push` sends them; `callwright review agreement` shows the share.

    Args:
        name: Draw from this release or recipe. Default: from all accepted samples.
        draw: The number of samples to draw.
        seed: The seed of the draw.
    """
    from callwright.flows.review.asking_again import recheck as draw_again

    drawn = draw_again(read_settings(), name, draw=draw, seed=seed)
    of = f"the {drawn.scope} {drawn.name!r}" if drawn.name else "all recipes"
    counts = (
        f"{drawn.drawn} of {count_of(drawn.samples, 'accepted sample')} of {of} drawn,"
        f" {count_of(drawn.asked, 'new question')}."
    )
    next_step = ["Send them to reviewers with `callwright review push`."] if drawn.asked else []
    return CommandResult(drawn, [counts, *next_step])


@command(review, "suspects", "review suspects v1")
def suspects(release: str) -> CommandResult:
    """List samples whose gold may be wrong, judging by the answers of candidates.

    A sample is suspect if all candidates fail at the same call, or if several give the same other
    answer and at most as many are right. At least two independent candidates must have been
    evaluated on the release: models of one family count as one. `callwright review push` sends new
    suspects to reviewers.

    Args:
        release: The release to look at.
    """
    from callwright.flows.review.asking_again import raise_suspicions

    suspicions = raise_suspicions(open_warehouse(), release)
    lines = [
        f"{one.subject} {one.category} · {one.kind}{' · new' if one.is_new else ''}\n  {one.reason}"
        for one in suspicions.suspects
    ]
    counts = f"{count_of(len(suspicions.suspects), 'suspect')}, {suspicions.new} of them new."
    lines.append(counts if lines else f"{suspicions.release} has no suspect samples.")
    next_step = (
        ["Send the new ones to reviewers with `callwright review push`."] if suspicions.new else []
    )
    return CommandResult(
        {"release": release, "new": suspicions.new, "suspects": suspicions.suspects},
        [*lines, *next_step],
    )


@command(review, "status", "review status --json")
def status(*, refresh: Annotated[bool, Option(flag="--server")] = False) -> CommandResult:
    """Show what waits for reviewers, who reviewed how much, and the time and cost that are left.

    Args:
        refresh: Also ask the Label Studio server.
    """
    from callwright.flows.review.status import review_status

    found = review_status(read_settings(), ask_server=refresh)
    return CommandResult(found, _status_text(found))


def _status_text(found: "Status") -> Iterator[str | TextTable]:
    if not found["queue"]:
        yield "There are no review questions yet."
        return
    # A line for each kind and cause; what there is nothing of has no column.
    counts = [
        name for name in _COUNTS if name in _ALWAYS or any(row[name] for row in found["queue"])
    ]
    rows: list[list[object]] = []
    for kind in dict.fromkeys(row["kind"] for row in found["queue"]):
        mine = [row for row in found["queue"] if row["kind"] == kind]
        rows.append([_words(kind), *(sum(row[name] for row in mine) for name in counts)])
        rows += [[f"  {row['cause']}", *(row[name] for name in counts)] for row in mine]
    yield TextTable(["questions", *map(_words, counts)], rows)
    if found["people"]:
        yield ""
        yield from _people_text(found["people"])
    yield ""
    yield from _whole_text(found)
    yield from _differing_text(found["differing"])
    yield from _unsettled_text(found["unsettled"])
    if found["next"]:
        kinds = [row["kind"] for row in found["next"]]
        next_rows = [
            (
                _words(row["kind"]),
                f"{row['priority']:.2f}",
                _short(f"{row['cause']}: {row['reason']}"),
            )
            for place, row in enumerate(found["next"])
            if place - kinds.index(row["kind"]) < _NEXT
        ]
        yield from ("", TextTable(("asked next", "place", "because"), next_rows))
    if "label_studio" in found:
        columns = ("project", "tasks", "finished", "annotations", "skipped")
        yield from ("", table_of(found["label_studio"], columns))


def _people_text(people: "list[Row]") -> Iterator[str | TextTable]:
    """Yield a line for each person; columns without any value are left out."""
    columns: dict[str, list[object]] = {
        "reviewer": [row["reviewer"] for row in people],
        **{name: [row[column] for row in people] for name, column in _DECISIONS.items()},
        **{
            name: [None if row[column] is None else round(row[column]) for row in people]
            for name, column in (("seconds", "median_seconds"), ("an hour", "reviews_per_hour"))
        },
        "on gold": [
            f"{row['gold_share']:.0%} of {row['n_gold_items']}" if row["n_gold_items"] else ""
            for row in people
        ],
        "too fast": [row["n_fast_answers"] or "" for row in people],
        "not theirs": [row["outside"] or "" for row in people],
        "last active": [f"{row['last_at'].astimezone():%d %b %H:%M}" for row in people],
    }
    shown = {
        name: cells for name, cells in columns.items() if name not in _WHERE_KNOWN or any(cells)
    }
    yield TextTable(list(shown), [list(row) for row in zip(*shown.values(), strict=True)])
    for name, meaning in _WHERE_KNOWN.items():
        if meaning and name in shown:
            yield f"({name}: {meaning})"


def _whole_text(found: "Status") -> Iterator[str]:
    [whole] = found["whole"]
    if not whole["questions"]:
        yield (
            f"No open questions. Reviewing took {_hours(whole['hours_so_far'])} so"
            f" far{_cost(whole['cost_so_far'])}."
        )
        return
    yield (
        f"Still to do: {count_of(whole['answers'], 'answer')} to"
        f" {count_of(whole['questions'], 'question')}, about"
        f" {_hours(whole['hours_left'])}{_cost(whole['cost_left'])}."
    )
    assumed = [_words(row["kind"]) for row in found["work_left"] if row["is_assumed"]]
    if assumed:
        yield (
            f"  (no {' or '.join(assumed)} has been answered yet; {whole['assumed_seconds']:.0f} s"
            " each are assumed)"
        )
    if whole["hours_so_far"]:
        yield f"So far: {_hours(whole['hours_so_far'])}{_cost(whole['cost_so_far'])}."


def _differing_text(rows: "list[Row]") -> Iterator[str | TextTable]:
    """Yield the questions that people answered differently, with the answer that counts."""
    if rows:
        yield ""
        several = count_of(rows[0]["shared"], "question")
        yield f"Of {several} that several people answered, {len(rows)} have answers that differ."
        decided = [row for row in rows if row["counts"]]  # the others stand below as unsettled
        shown = [
            (row["subject"], _short(row["said"], _ROOM_BESIDE), row["counts"])
            for row in decided[:_FEW]
        ]
        yield from [TextTable(("differs", "said", "what counts"), shown)] if shown else []
        if len(decided) > _FEW:
            yield f"… and {len(decided) - _FEW} more; list them all with --json."


def _unsettled_text(rows: "list[Row]") -> Iterator[str | TextTable]:
    """Yield the unsettled subjects: reviewers disagree, or a doubtful edit needs a second one.

    For each it names the people who could be asked next.
    """
    if rows:
        yield ""
        shown = [
            (
                row["subject"],
                "edit, in doubt" if row["decisions"] == ["edit"] else " or ".join(row["decisions"]),
                ", ".join(row["others"]) or "somebody new",
            )
            for row in rows[:_FEW]
        ]
        yield TextTable(("unsettled", "said", "could be asked next"), shown)
        if len(rows) > _FEW:
            yield f"… and {len(rows) - _FEW} more; list them all with --json."


@command(review, "agreement", "review agreement")
def agreement() -> CommandResult:
    """Show how reviewers agree with each other and with models, and how they do on gold items.

    The usable share is shown too.
    """
    from callwright.flows.review.status import agreement_report

    report = agreement_report(read_settings())
    return CommandResult(report, _agreement_text(report))


def _agreement_text(report: "Status") -> Iterator[str | TextTable]:
    from callwright.flows.review.status import MEASURES, agreement_lines

    if not any(report.values()):
        yield (
            "No two reviewers have answered the same question yet, and no samples were drawn by"
            " `review recheck`."
        )
    if report["agreement"]:
        yield "agreement (1: always, 0: as by chance, empty: undefined):"
        lines = agreement_lines(report["agreement"])
        columns = ("kind", "of", "who or what", "items", "people", *MEASURES)
        yield TextTable(columns, [[*line[:-1], *line.values] for line in lines])
    tables = {
        "reader models compared with people": "readers",
        "gold items": "gold_items",
        "usable": "usable",
    }
    for title, name in tables.items():
        if report[name]:
            names = list(report[name][0])
            heads = [one.removeprefix("n_") for one in names]
            yield from (f"{title}:", table_of(report[name], names, heads))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _hours(hours: float) -> str:
    minutes = round(hours * _MINUTES)
    return f"{hours:.1f} hours" if minutes >= _MINUTES else count_of(minutes, "minute")


def _cost(cost: float | None) -> str:
    return "" if cost is None else f", {cost:.2f} US dollars"


def _short(text: str, room: int = _ROOM) -> str:
    """Return a text cut to `room` columns; Chinese characters take two."""
    from rich.cells import cell_len, set_cell_size

    line = " ".join(text.split())
    return line if cell_len(line) <= room else f"{set_cell_size(line, room - 1).rstrip()}…"
