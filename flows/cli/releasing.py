"""`release`, `query` and `publish`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from callwright.flows.cli.screen import AsJson, Live, say, show, show_json, show_table

if TYPE_CHECKING:
    from callwright.warehouse.releases import BuildShare, MadeRelease, ReleaseDiff, ReleaseState


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    release = typer.Typer(help="Freeze accepted samples.", no_args_is_help=True, rich_markup_mode=None)
    release.command(
        "create",
        epilog="Example: callwright release create v1 --recipe demo --splits train=0.8,validation=0.1,test=0.1",
    )(create)
    release.command("import", epilog="Example: callwright release import published callnavi data/callnavi")(import_one)
    release.command("list", epilog="Example: callwright release list")(list_all)
    release.command("diff", epilog="Example: callwright release diff v1 v2")(diff)
    release.command("verify", epilog="Example: callwright release verify v1")(verify)
    release.command("card", epilog="Example: callwright release card v1")(card)
    app.add_typer(release, name="release")
    app.command("query", epilog='Example: callwright query "select * from funnel"')(query)
    app.command("publish", epilog="Example: callwright publish")(publish)


def create(  # noqa: PLR0913, PLR0917 - typer reads each option from a parameter
    name: Annotated[str, typer.Argument(help="The release's name.")],
    recipe: Annotated[list[str] | None, typer.Option(help="Only samples of this recipe; may be given again.")] = None,
    build: Annotated[
        list[str] | None,
        typer.Option(
            help="Samples of this build in place of the newest, by the beginning of its key; may be given again."
        ),
    ] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only samples of this kind; may be given again.")] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Only samples in this language; may be given again.")
    ] = None,
    where: Annotated[str, typer.Option(help="Only what this SQL condition on accepted_samples holds for.")] = "",
    splits: Annotated[
        str, typer.Option(metavar="NAME=SHARE,...", help="Splits with their shares: train=0.8,validation=0.1,test=0.1.")
    ] = "",
    by: Annotated[
        str,
        typer.Option(help="What no two splits share: relatives (parent, goal, template), or tool: these and tools."),
    ] = "relatives",
    version: Annotated[
        str, typer.Option(help="Its semantic version; counted on from the release it follows unless given.")
    ] = "",
    follows: Annotated[
        str,
        typer.Option(
            help="The release it is the next version of; the newest of the same recipes and filters unless given."
        ),
    ] = "",
    note: Annotated[str, typer.Option(help="A sentence to keep with it.")] = "",
    live: Live = False,
    as_json: AsJson = False,
) -> None:
    """Freeze what the newest whole build of each recipe has landed, under a name, a version and a content hash.

    Trials (build --limit) and older builds are left out unless --build names them; what is taken and left out is listed.
    Splits are in proportion by kind, language and category, and samples of one parent, goal or template are never parted.
    """
    from callwright.flows.api.releases import create_release

    made = create_release(
        name, recipes=recipe or (), builds=build or (), kinds=kind or (), languages=language or (), where=where, splits=splits,
        by=by, version=version, follows=follows, note=note, live=live,
    ).created  # fmt: skip
    if as_json:
        show_json(_made_as_json(made))
        return
    release = made.release
    after = f" (follows {release.follows})" if release.follows else ""
    show(
        f"{release.name}: version {release.version}{after}, {release.samples} samples, content hash {release.content_hash}"
    )
    for share in made.selected.builds:
        for line in _share_lines(share):
            show(line)
    _show_splits(made)


def _made_as_json(made: "MadeRelease") -> dict[str, object]:
    return made.release.model_dump(mode="json") | {
        "builds": [share._asdict() for share in made.selected.builds],
        "samples_by_split": made.splits,
        "groups": made.groups,
        "duplicates": [found._asdict() for found in made.duplicates],
    }


def _show_splits(made: "MadeRelease") -> None:
    """The splits with their counts, and how many requests have a near duplicate in another split."""
    if not made.splits:
        return
    for name, share in made.release.splits.items():
        number = made.splits[name]
        show(f"  split {name}: {number} samples, {number / made.release.samples:.1%} (asked for {share:.1%})")
    show(f"  {made.groups} groups of relatives, each in one split")
    if not made.duplicates:
        show("  no near duplicates across splits")
        return
    show(
        f"  {len(made.duplicates)} samples have a near duplicate in another split (table release_duplicates), for one:"
    )
    found = max(made.duplicates, key=lambda one: one.likeness)
    show(f"    {found.subject} ({found.split}) and {found.other} ({found.other_split}), {found.likeness:.0%} alike")


_LEFT_OUT = {
    "trial": "a trial; --build takes it",
    "older": "a newer build of the recipe counts; --build takes it",
    "not asked for": "not asked for",
    "filtered": "not what --kind, --language or --where ask for",
}


def _share_lines(share: "BuildShare") -> Iterator[str]:
    """What a release takes of a build, and what it leaves out, each a line where there is any."""
    trial = ", a trial" if share.is_trial and share.left_out != "trial" else ""
    named = f"build {share.build} (recipe {share.recipe}{trial})"
    if share.taken:
        yield f"  taken from {named}: {share.taken} of {share.landed} samples"
    if share.left_out:
        yield f"  left out of {named}: {share.landed - share.taken} samples, {_LEFT_OUT[share.left_out]}"


def import_one(
    name: Annotated[str, typer.Argument(help="The release's name.")],
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="callnavi, complexfuncbench, confetti or hammerbench.")],
    path: Annotated[Path, typer.Argument(help="The file or folder.")],
    as_json: AsJson = False,
) -> None:
    """Freeze samples that others made, as they are, to evaluate candidates on them; no check sees them."""
    from callwright.flows.importing import import_release
    from callwright.flows.settings import open_warehouse

    imported = import_release(open_warehouse(), name, form, path)
    if as_json:
        show_json(imported._asdict())
        return
    for problem in imported.problems:
        say(f"{problem.where}: {problem.message}")
    release = imported.release
    show(
        f"{release.name}: {release.samples} samples, {imported.left_out} left out, content hash {release.content_hash}"
    )


def list_all(live: Live = False, as_json: AsJson = False) -> None:
    """List the releases, the newest first, each with the content hash that it was frozen with; `verify` counts it again."""
    from callwright.flows.settings import reading
    from callwright.warehouse.releases import list_releases

    with reading(live=live) as warehouse:
        releases = list_releases(warehouse)
    if as_json:
        show_json([release.model_dump(mode="json") for release in releases])
        return
    columns = ("name", "version", "samples", "content_hash", "created_at", "note")
    show_table(columns, [[getattr(release, column) for column in columns] for release in releases])


def diff(
    old: Annotated[str, typer.Argument(help="A release.")],
    new: Annotated[str, typer.Argument(help="A later release.")],
    live: Live = False,
    as_json: AsJson = False,
) -> None:
    """Say which samples came, which went, and which were made anew of the same parents, field by field."""
    from callwright.flows.settings import reading
    from callwright.warehouse.releases import changed_samples, diff_releases

    with reading(live=live) as warehouse:
        found = diff_releases(warehouse, old, new)
        if as_json:
            changed = [
                orjson.Fragment(orjson.dumps(one._asdict() | {"fields": [field._asdict() for field in one.fields]}))
                for one in changed_samples(warehouse, old, new, found.changed)
            ]
            fields = {field.field: field.samples for field in found.fields}
            kinds = [one._asdict() for one in found.kinds]
            show_json(found._asdict() | {"changed": changed, "kinds": kinds, "fields": fields})
            return
    show(
        f"{found.kept} kept, {len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed, "
        f"{len(found.moved)} in another split."
    )
    show_table(("kind", "added", "removed", "changed", "kept"), found.kinds)
    _show_changes(found)


_LISTED = 10  # samples; --json has them all
_SHOWN = 60  # characters of a value


def _show_changes(found: "ReleaseDiff") -> None:
    """Field by field the first sample that changed in it, then the keys of what came and went."""
    if found.changed:
        show("")
        rows = [
            (one.field, one.samples, one.first, _short(one.change.old), _short(one.change.new)) for one in found.fields
        ]
        show_table(("field", "samples", "for one", "was", "is"), rows)
    for sign, keys in (("+", found.added), ("-", found.removed)):
        for key in keys[:_LISTED]:
            show(f"{sign} {key}")
        if len(keys) > _LISTED:
            show(f"{sign} and {len(keys) - _LISTED} more; --json lists all")


def _short(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def verify(
    name: Annotated[str | None, typer.Argument(help="A release; all of them unless given.")] = None,
    live: Live = False,
    as_json: AsJson = False,
) -> None:
    """Compare releases with their manifests, row by row; exit 1 where something was changed, added or removed since."""
    from callwright.flows.settings import reading
    from callwright.warehouse.releases import verify_release, verify_releases

    with reading(live=live) as warehouse:
        states = [verify_release(warehouse, name)] if name else verify_releases(warehouse)
    if as_json:
        show_json([_state_as_json(state) for state in states])
    else:
        for state in states:
            show(state.sentence)
    if not all(state.is_intact for state in states):
        raise typer.Exit(1)


def _state_as_json(state: "ReleaseState") -> dict[str, object]:
    return {
        "release": state.release.name,
        "is_intact": state.is_intact,
        "manifest_made": state.release.manifest_made,
        "changes": [change._asdict() for change in state.changes],
    }


def card(name: Annotated[str, typer.Argument(help="A release.")], live: Live = False, as_json: AsJson = False) -> None:
    """Print the release's dataset card: what is in it, how it was made and checked, its limits, how to cite it."""
    from callwright.flows.settings import reading
    from callwright.warehouse.cards import card_facts, render_card

    with reading(live=live) as warehouse:
        facts = card_facts(warehouse, name)
    if as_json:
        show_json(facts._asdict() | {"state": _state_as_json(facts.state), "limits": facts.limits})
    else:
        show(render_card(facts))


def query(
    sql: Annotated[str, typer.Argument(help="DuckDB SQL; nothing can be changed by it.")],
    live: Live = False,
    as_json: AsJson = False,
) -> None:
    """Run a read-only query on the warehouse; `show tables` lists what there is. No build waits for it."""
    from callwright.flows.settings import reading

    with reading(live=live) as warehouse:
        columns, rows = warehouse.query(sql)
    if as_json:
        show_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        show_table(columns, rows)


def publish(as_json: AsJson = False) -> None:
    """Replace the read-only database and the Parquet files that analysts open while builds go on."""
    from callwright.flows.settings import open_warehouse, read_settings
    from callwright.warehouse.publish import publish as publish_warehouse

    settings = read_settings()
    published = publish_warehouse(open_warehouse(settings), settings.published)
    if as_json:
        show_json(published._asdict())
    else:
        show(f"{published.database}\n{published.parquet}")
