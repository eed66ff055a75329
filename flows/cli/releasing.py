"""Commands for releases and reading the warehouse: `release`, `export`, `query`, `publish`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import orjson

from callwright.flows.api.options import ExportOptions, Live, ReleaseOptions
from callwright.flows.cli.screen import (
    Aside,
    AsJson,
    CommandResult,
    OneRelease,
    Terminal,
    TextTable,
    command,
    commands,
    first_lines,
    run_shown,
    table_of,
)
from callwright.flows.options import Option
from callwright.flows.settings import open_warehouse, read_settings, reading
from callwright.warehouse.batches import grouped
from callwright.warehouse.counts import count_of
from callwright.warehouse.waiting import QUERY_SECONDS

if TYPE_CHECKING:
    from callwright.flows.overlap import Overlap
    from callwright.warehouse.exports.formats import Export
    from callwright.warehouse.releases import MadeRelease, ReleaseDiff, ReleaseState

app = commands()
release = commands("Create, compare and inspect releases.")
app.add_typer(release, name="release")
_LEFT_OUT = {
    "trial": "a trial (name it with --build to take it)",
    "older": "a newer build of the recipe counts (name this one with --build to take it)",
    "not asked for": "not asked for",
    "filtered": "excluded by --kind, --language or --where",
}
_LISTED = 10  # samples; --json has them all
_SHOWN = 60  # characters of a value


@command(
    release, "create", "release create v1 --recipe demo --splits train=0.8,validation=0.1,test=0.1"
)
def create(name: str, **options: Unpack[ReleaseOptions]) -> CommandResult:
    """Freeze the accepted samples of the newest full build of each recipe under a name.

    The release gets a version and a content hash.

    Trials (`build --limit`) and older builds are left out unless --build names them. What is taken
    and left out is listed. Splits keep the proportions of kind, language and category. Samples of
    one parent, goal or template stay in one split.

    Args:
        name: The name of the release.
    """
    from callwright.flows.api.releases import create_release

    made_release = run_shown(
        "create-release", name, lambda _progress: create_release(name, **options).created
    )
    value = made_release.release.model_dump(mode="json") | {
        "builds": made_release.selected.builds,
        "samples_by_split": made_release.splits,
        "groups": made_release.groups,
        "largest_group": made_release.largest_group,
        "shared": made_release.shared,
        "missed": made_release.missed,
        "duplicates": made_release.duplicates,
        "left_out": made_release.left_out,
    }
    return CommandResult(value, _made_text(made_release))


def _left_out_text(made: "MadeRelease") -> Iterator[str]:
    """Yield how many samples of each split are left out for a value that another split has."""
    for name in made.release.splits:
        apart = [one for one in made.left_out if one.split == name]
        if apart:
            yield (
                f"  left out of split {name}: {count_of(len(apart), 'sample')}, whose gold shares"
                " an id, a name or an amount with a larger split, such as"
                f" {apart[0].value!r} with {apart[0].other_split}"
            )


def _made_text(made: "MadeRelease") -> Iterator[str]:
    """Yield what was made, from which builds and splits, and near duplicates across splits."""
    new_release = made.release
    after = f" (follows {new_release.follows})" if new_release.follows else ""
    yield (
        f"{new_release.name}: version {new_release.version}{after},"
        f" {count_of(new_release.samples, 'sample')}, content hash {new_release.content_hash}"
    )
    for share in made.selected.builds:
        trial = ", a trial" if share.is_trial and share.left_out != "trial" else ""
        named = f"build {share.build} (recipe {share.recipe}{trial})"
        if share.taken:
            yield f"  taken from {named}: {share.taken} of {count_of(share.landed, 'sample')}"
        if share.left_out:
            yield (
                f"  left out of {named}: {count_of(share.landed - share.taken, 'sample')},"
                f" {_LEFT_OUT[share.left_out]}"
            )
    if made.shared:
        yield (
            f"  {count_of(made.shared, 'sample is', 'samples are')} in several recipes and counted"
            f" once: {new_release.samples} in all"
        )
    if not made.splits:
        return
    for name, wanted in new_release.splits.items():
        number = made.splits[name]
        yield (
            f"  split {name}: {count_of(number, 'sample')}, {number / new_release.samples:.1%}"
            f" (asked for {wanted:.1%})"
        )
    yield from _left_out_text(made)
    if made.missed:
        off = ", ".join(f"{name} by {by:+.1%}" for name, by in made.missed.items())
        why = [f"related samples stay together, and the largest group has {made.largest_group}"]
        why += (
            [
                f"{count_of(made.kept, 'sample stays', 'samples stay')} in the same split as in"
                f" {new_release.follows}"
            ]
            if made.kept
            else []
        )
        yield f"  the shares differ from those asked for ({off}): {'; '.join(why)}"
    yield f"  {count_of(made.groups, 'group')} of related samples, each in one split"
    if not made.duplicates:
        yield "  no near duplicates across splits"
        return
    yield (
        f"  {count_of(len(made.duplicates), 'sample has', 'samples have')} a near duplicate in"
        " another split (table release_duplicates). The closest pair:"
    )
    found = max(made.duplicates, key=lambda pair: pair.likeness)
    yield (
        f"    {found.subject} ({found.split}) and {found.other} ({found.other_split}),"
        f" {found.likeness:.0%} alike"
    )


@command(release, "import", "release import published callnavi data/callnavi")
def import_one(
    name: str, form: Annotated[str, Option(metavar="FORMAT")], path: Path
) -> CommandResult:
    """Make a release from other people's samples, unchecked, to evaluate candidates on them.

    Args:
        name: The name of the release.
        form: The format: records, openai, bfcl, hammerbench or another one of docs/sources.md.
        path: The file or folder to read.
    """
    from callwright.flows.sources import import_release

    imported = import_release(open_warehouse(), name, form, path)
    imported_release, problems = (
        imported.release,
        [Aside(f"{problem.where}: {problem.message}") for problem in imported.problems],
    )
    whole = (
        f"{imported_release.name}: {count_of(imported_release.samples, 'sample')},"
        f" {imported.left_out} left out, content hash {imported_release.content_hash}"
    )
    return CommandResult(imported, [*problems, whole])


@command(release, "list", "release list")
def list_all(*, live: Live = False) -> CommandResult:
    """List the releases, newest first, with their content hashes.

    `release verify` recomputes the hashes.
    """
    from callwright.warehouse.releases import list_releases

    with reading(live=live) as warehouse:
        releases = list_releases(warehouse)
    return CommandResult(
        releases,
        [table_of(releases, ("name", "version", "samples", "content_hash", "created_at", "note"))],
    )


@command(release, "diff", "release diff v1 v2")
def diff(
    old: OneRelease, new: str, *, live: Live = False, as_json: AsJson = False
) -> CommandResult:
    """Compare two releases: samples added, removed, and changed field by field.

    Args:
        new: The later release.
    """
    from callwright.warehouse.releases import changed_samples, diff_releases

    with reading(live=live) as warehouse:
        release_diff = diff_releases(warehouse, old, new)
        changed = [
            orjson.Fragment(
                orjson.dumps(one._asdict() | {"fields": [field._asdict() for field in one.fields]})
            )
            for one in changed_samples(warehouse, old, new, release_diff.changed if as_json else ())
        ]
    fields = {field.field: field.samples for field in release_diff.fields}
    return CommandResult(
        release_diff._asdict() | {"changed": changed, "fields": fields}, _diff_text(release_diff)
    )


def _diff_text(found: "ReleaseDiff") -> Iterator[str | TextTable]:
    """Yield the counts, the first changed sample per field, and the keys added and removed."""
    yield (
        f"{found.kept} kept, {len(found.added)} added, {len(found.removed)} removed,"
        f" {len(found.changed)} changed, {len(found.moved)} in another split."
    )
    yield TextTable(("kind", "added", "removed", "changed", "kept"), found.kinds)
    if found.changed:
        yield ""
        rows = [
            (one.field, one.samples, one.first, _short(one.change.old), _short(one.change.new))
            for one in found.fields
        ]
        yield TextTable(("field", "samples", "for one", "was", "is"), rows)
    for sign, keys in (("+", found.added), ("-", found.removed)):
        yield from first_lines((f"{sign} {key}" for key in keys), _LISTED)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


@command(
    release,
    "overlap",
    "release overlap v1 --with bfcl:data/bfcl --with hf:data/xlam",
    begins="Comparing the release with the data sets",
)
def overlap(
    name: OneRelease,
    *,
    data_sets: Annotated[Sequence[str], Option(flag="--with", metavar="FORMAT:PATH")],
    likeness: Annotated[float, Option(least=0, most=1)] = 0.6,
    live: Live = False,
) -> CommandResult:
    """Find the tools (by schema), calls and requests that a release shares with other datasets.

    Both shares are given: of the samples in the release, and of those in the dataset. Only tools
    that are called count. A recipe keeps such samples out with `avoid`.

    Args:
        data_sets: A dataset in a format of docs/sources.md. Repeatable.
        likeness: The similarity, from 0 to 1, from which two requests count as the same.
    """
    from callwright.flows.api.releases import load_release

    with Terminal() as screen:
        overlaps = load_release(name, live=live).overlap(
            *data_sets, likeness=likeness, progress=screen
        )
    return CommandResult(overlaps, _overlap_text(overlaps))


def _overlap_text(found: "Sequence[Overlap]") -> Iterator[str | TextTable]:
    """Yield the shares of both sides, then a few of the pairs, the nearest requests first."""
    rows = [
        (
            one.name,
            how,
            number,
            number / one.samples,
            one.shared_others[how],
            one.shared_others[how] / one.others,
        )
        for one in found
        for how, number in one.shared.items()
    ]
    yield TextTable(
        ("with", "the same", "of the release", "share", "of the other", "share of it"), rows
    )
    for data_overlap in found:
        if data_overlap.unreadable:
            yield Aside(
                f"{count_of(data_overlap.unreadable, 'record')} of {data_overlap.name} could not be"
                " read as samples."
            )
        shown = sorted(
            (pair for pair in data_overlap.pairs if pair.how != "tool"),
            key=lambda pair: (pair.how, -pair.likeness),
        )
        pair_texts = (
            f"{pair.how} {pair.likeness:.2f}  {pair.sample} {_short(pair.request)}\n  {pair.place}"
            f" {_short(pair.other_request)}"
            for pair in shown
        )
        yield from first_lines(pair_texts, _LISTED)


@command(release, "verify", "release verify v1")
def verify(name: str | None = None, *, live: Live = False) -> CommandResult:
    """Compare releases with their manifests, row by row.

    The exit code is 1 if anything was changed, added or removed.

    Args:
        name: The release to verify. Default: all of them.
    """
    from callwright.warehouse.releases import verify_release, verify_releases

    with reading(live=live) as warehouse:
        states = [verify_release(warehouse, name)] if name else verify_releases(warehouse)
    is_wrong = not all(state.is_intact for state in states)
    return CommandResult(
        [*map(_state_value, states)], [state.sentence for state in states], int(is_wrong)
    )


def _state_value(state: "ReleaseState") -> dict[str, object]:
    return {"release": state.release.name, "is_intact": state.is_intact, "changes": state.changes}


@command(release, "card", "release card v1")
def card(name: OneRelease, *, live: Live = False) -> CommandResult:
    """Print the dataset card of a release: its contents, making, checks, limits and citation."""
    from callwright.flows.api.tasks import cheats_in_release
    from callwright.warehouse.cards import card_facts, render_card

    with reading(live=live) as warehouse:
        facts = card_facts(warehouse, name)
    kinds = [row["kind"] for row in facts.kinds]
    with Terminal() as screen:
        facts = facts._replace(cheats=cheats_in_release(kinds, name, progress=screen))
    return CommandResult(
        facts._asdict() | {"state": _state_value(facts.state), "limits": facts.limits},
        render_card(facts),
    )


@command(app, "query", 'query "select * from funnel"')
def query(
    sql: str, *, live: Live = False, timeout: Annotated[float, Option(least=0)] = QUERY_SECONDS
) -> CommandResult:
    """Run a read-only SQL query on the warehouse. `show tables` lists the tables.

    Builds can continue meanwhile.

    Args:
        sql: A read-only query in DuckDB SQL.
        timeout: Stop the query after this many seconds.
    """
    with reading(live=live) as warehouse:
        columns, rows = warehouse.query(sql, timeout)
    return CommandResult(
        [dict(zip(columns, row, strict=True)) for row in rows], [TextTable(columns, rows)]
    )


@command(app, "publish", "publish")
def publish() -> CommandResult:
    """Refresh the published copy of the warehouse.

    It is a read-only database and Parquet files, which can be opened during builds.
    """
    from callwright.warehouse.publish import publish as publish_warehouse

    settings = read_settings()
    published = publish_warehouse(open_warehouse(settings), settings.published)
    return CommandResult(published, f"{published.database}\n{published.parquet}")


@command(
    app,
    "export",
    "export v1 --to openai --kind sQsA --out exported; "
    "of answers: export v1 --to trl-dpo --from-answers openai/gpt-6-luna~native --pass-rate"
    " 0.2:0.8",
    begins="Reading the release",
)
def export(
    release: OneRelease,
    *,
    to: str,
    out: Path | None = None,
    live: Live = False,
    **options: Unpack[ExportOptions],
) -> CommandResult:
    """Write a release and its card in another format. What the format cannot hold is counted.

    Formats for training leave out samples that only template/v1 worded or judged, because these are
    for trying out. trl-dpo and trl-kto need worse answers beside the gold: wrong answers of
    candidates, samples that a person corrected, or else planted defects. Each split becomes a file
    or folder of its own. The folder is replaced as a whole, with any older export in the same
    format.

    Args:
        to: The format. For training: atif, hf, nemo-gym, openai, openenv, sharegpt, trl, trl-dpo,
            trl-grpo, trl-kto, verifiers. For evaluation: bfcl, callnavi, complexfuncbench,
            confetti, hammerbench, inspect, langfuse, promptfoo. Complete samples: parquet, records.
            Your own: FILE.py:NAME.
        out: The folder to write. Default: exports/RELEASE-FORMAT.
    """
    from callwright.flows.api.releases import WorkFolder, load_from
    from callwright.flows.api.surroundings import settings_of
    from callwright.flows.evaluation.answers import require_options_fit
    from callwright.warehouse.exports.formats import format_of

    # Before anything is read:
    require_options_fit(
        format_of(to),
        options["from_answers"],
        options["pass_rate"],
        one_call_at_a_time=options["one_call_at_a_time"],
    )
    folder = WorkFolder(settings_of(None), live=live)
    with folder.opened(), Terminal() as screen:  # one copy for all that is read
        loaded = load_from(folder, release)
        written = loaded.export(to, out, **options, progress=screen)
        counts = loaded.count_kinds()
        samples = sum(counts[name] for name in options["kinds"] or counts)
    value = {
        "release": release,
        "format": to,
        "samples": samples,
        "rows": written.rows,
    } | written._asdict()
    return CommandResult(value, _export_text(written, samples))


def _export_text(written: "Export", samples: int) -> Iterator[str]:
    """Yield the files, the rows of each split, and what is left out, by reason and kind."""
    yield from map(str, written.files)
    named = [f"{split} {rows}" for split, rows in written.splits.items() if split]
    splits = f" ({', '.join(named)})" if named else ""
    yield Aside(f"{count_of(written.rows, 'row')} from {count_of(samples, 'sample')}{splits}.")
    for reason, ones in grouped(written.skipped, lambda one: one.reason).items():
        kinds = ", ".join(f"{one.kind} {one.number}" for one in sorted(ones))
        yield Aside(f"Left out: {sum(one.number for one in ones)} ({kinds}). {reason.rstrip('.')}.")
    for change, number in written.mended.items():
        yield Aside(f"Schemas of {count_of(number, 'tool')} written otherwise: {change}.")
    for word, names in written.names.items():
        if names:
            counted = count_of(len(names), word.removesuffix("s"))
            yield Aside(f"{counted} under other names, as export.json says.")
