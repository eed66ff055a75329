"""What an import yields: the tools, and everything odd that it met on the way."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from reprlib import Repr
from typing import Literal, NamedTuple

from callwright.warehouse.records import JsonSchema, Record, Tool

ProblemKind = Literal[
    "all_required",
    "assumed_required",
    "assumed_type",
    "bad_json",
    "bad_pattern",
    "bad_record",
    "circular_reference",
    "crud_gap",
    "dead_link",
    "duplicate_name",
    "flattened_body",
    "generated_name",
    "incomplete_listing",
    "invalid_keyword",
    "invalid_schema",
    "name_collision",
    "no_description",
    "no_name",
    "no_parameters",
    "no_parameters_type",
    "not_an_object",
    "other_format",
    "redundant",
    "renamed_type",
    "set_by_client",
    "shortened_parameters",
    "shortened_return",
    "similar_description",
    "single_choice",
    "too_complex",
    "too_deep",
    "too_large",
    "too_many_parameters",
    "undeclared_required",
    "undescribed_parameter",
    "unknown_field",
    "unknown_type",
    "unreadable",
    "unresolvable_reference",
    "unsupported",
    "untyped_parameter",
    "untyped_return",
    "unwrapped_body",
]
# what costs a tool, an entry of whatever sort, and a tool a part of it; all else is only odd
FATAL: frozenset[ProblemKind] = frozenset(
    {"invalid_schema", "no_name", "not_an_object", "too_large", "unresolvable_reference"}
)
LEFT_OUT = FATAL | {"bad_json", "unreadable"}
LOST: frozenset[ProblemKind] = frozenset(
    {"bad_pattern", "circular_reference", "invalid_keyword", "shortened_parameters", "unknown_type", "unsupported"}
)
LONGEST_SHOWN = 80


class Note(NamedTuple):
    """Something odd about an item, before it is known where the item stands: a kind and a sentence."""

    kind: ProblemKind
    message: str


class Problem(Record):
    """One odd thing: where it stands (file and JSON pointer, or line), in which tool, and what was done about it."""

    where: str
    tool: str = ""
    kind: ProblemKind
    message: str


def weightiest_first(problems: Iterable[Problem]) -> list[Problem]:
    """The problems, those that cost a tool first, then those that cost a part of one; otherwise in their order."""
    return sorted(problems, key=lambda one: (one.kind not in LEFT_OUT, one.kind not in LOST))


class StatedLink(NamedTuple):
    """A link that a document states: the `field` of an entry of `entries` of a response is a parameter of the operation named."""

    method: str
    path: str
    parameter: str
    entries: str
    field: str


class StatedError(NamedTuple):
    """An error that a document declares of an operation: its status ("404", "4XX", "default"), and the schema of its body."""

    status: str
    returns: JsonSchema


class ToolOrigin(NamedTuple):
    """Where in a description of an API a tool, named by its key, comes from, and the links and errors of its responses."""

    tool: str
    method: str
    path: str
    tags: tuple[str, ...] = ()
    links: tuple[StatedLink, ...] = ()
    errors: tuple[StatedError, ...] = ()


class Catalog(Record):
    """An imported catalog: `entries` counts every item met, `distinct` the different names among the tools kept.

    `origins` say of an API's tools which operations they are; `files` are all that was read.
    """

    tools: tuple[Tool, ...]
    entries: int
    distinct: int
    problems: tuple[Problem, ...] = ()
    origins: tuple[ToolOrigin, ...] = ()
    files: tuple[Path, ...] = ()


def merged(catalogs: Sequence[Catalog]) -> Catalog:
    """Several catalogs as one: what is in two of them is kept once; tools that share a name are told with their files."""
    tools: dict[str, Tool] = {}
    first: dict[tuple[str, str], tuple[Tool, Catalog]] = {}
    clashes: list[Problem] = []
    for catalog in catalogs:
        for tool in catalog.tools:
            other, home = first.setdefault((tool.language, tool.name), (tool, catalog))
            if home is not catalog and other.key != tool.key:
                places = " and ".join(
                    repr(str(one.files[0])) if one.files else "another file" for one in (home, catalog)
                )
                message = (
                    f"{tool.name!r} is in {places}, with other content; each is kept, and `rename` names one otherwise."
                )
                where = str(catalog.files[0]) if catalog.files else ""
                clashes.append(Problem(where=where, tool=tool.name, kind="duplicate_name", message=message))
            tools[tool.key] = tool
    return Catalog(
        tools=tuple(tools.values()),
        entries=sum(one.entries for one in catalogs),
        distinct=len({tool.name for tool in tools.values()}),
        problems=(*(problem for one in catalogs for problem in one.problems), *clashes),
        origins=tuple({origin.tool: origin for one in catalogs for origin in one.origins}.values()),
        files=tuple(dict.fromkeys(file for one in catalogs for file in one.files)),
    )


class CatalogFormat(NamedTuple):
    """A format of tools that can be imported: `read` gives the tools at a path, and all that is odd there.

    It raises ConfigurationError where the path holds none of its tools.
    """

    name: str
    read: Callable[[Path], Catalog]


def shown(value: object) -> str:
    """A value as a message shows it: its repr, cut where it is long."""
    short = Repr()
    short.maxstring = short.maxother = short.maxlong = LONGEST_SHOWN
    text = short.repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
