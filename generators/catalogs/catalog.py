"""The result of an import: the tools, the problems met, and what makes tools hard to use."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import ceil
from operator import not_
from pathlib import Path
from reprlib import Repr
from typing import Literal, NamedTuple, get_args

from pydantic import Field

from callwright.language.packs import unspaced
from callwright.warehouse.records import JsonSchema, Record, Tool

_CostsTool = Literal["impossible", "invalid_schema", "no_json_body", "no_name", "not_an_object"]
_CannotWrite = Literal["too_large", "unresolvable_reference"]
_CostsEntry = Literal["bad_json", "unreadable"]
_CostsWord = Literal["bad_pattern", "circular_reference", "invalid_keyword"]
_CostsPart = Literal[
    "no_value", "shortened_parameters", "unknown_type", "unread_rule", "unsupported"
]
_CostsValue = Literal["wrong_default"]
_Weak = Literal["no_description", "undescribed_parameter", "undeclared_required", "single_choice"]
_Crowded = Literal["too_many_parameters", "too_deep", "too_complex", "crud_gap", "redundant"]
_Confused = Literal[
    "duplicate_name", "similar_description", "name_collision", "generated_name", "unclear_tool"
]
_Alike = Literal["alike_choices", "hidden_characters"]
_Assumed = Literal["all_required", "assumed_required", "assumed_type", "renamed_type"]
_Moved = Literal["flattened_body", "unwrapped_body", "set_by_client", "shortened_return"]
_Mended = Literal["read_only", "repeated_choice"]
_Untyped = Literal["no_parameters", "no_parameters_type", "untyped_parameter", "untyped_return"]
_OfFile = Literal[
    "bad_record", "dead_link", "incomplete_listing", "no_gold", "other_format", "unknown_field"
]
_OfRow = Literal["escaped_text"]
_OfProse = Literal["doubted_rule", "prose_rule", "state_rule", "told_elsewhere"]
_Fatal = Literal[_CostsTool, _CannotWrite]
_Lost = Literal[_CostsWord, _CostsPart, _CostsValue]
_Unclear = Literal[_Confused, _Alike, _Assumed]
_Odd = Literal[_Weak, _Crowded, _Unclear, _Moved, _Mended, _Untyped, _OfFile, _OfRow, _OfProse]
ProblemKind = Literal[_Fatal, _CostsEntry, _Lost, _Odd]
# what costs a tool, an entry of whatever sort, and a tool a part of it; all else is only odd
FATAL: frozenset[ProblemKind] = frozenset(get_args(_Fatal))
LEFT_OUT: frozenset[ProblemKind] = FATAL | frozenset(get_args(_CostsEntry))
LOST: frozenset[ProblemKind] = frozenset(get_args(_Lost))
LONGEST_SHOWN = 80
MOST_PARAMETERS = 12
DEEPEST = 3
SIMILAR = 0.85
_WORDS = re.compile(rf"[{unspaced()}]|[^\W_]+")


class Note(NamedTuple):
    """Something odd about an item: a kind, a sentence, and the member of its schema ("a.b")."""

    kind: ProblemKind
    message: str
    member: str = ""

    def __str__(self) -> str:
        """Return the sentence with its place."""
        return f"In {self.member!r}: {self.message}" if self.member else self.message

    def within(self, member: str) -> "Note":
        """Return the note as one about a member of a larger schema."""
        return self._replace(member=".".join(filter(None, (member, self.member))))


class Problem(Record):
    """A problem: its place (file and JSON pointer or line), its tool, and how it was handled.

    `line` is the line of the file where its row begins (0: unknown).
    """

    where: str
    tool: str = ""
    kind: ProblemKind
    message: str
    line: int = Field(default=0, exclude_if=not_)


def weightiest_first(problems: Iterable[Problem]) -> list[Problem]:
    """Sort problems stably: first those that cost a tool, then those that cost part of one."""
    return sorted(problems, key=lambda one: (one.kind not in LEFT_OUT, one.kind not in LOST))


class StatedLink(NamedTuple):
    """A documented link: `field` of an entry in a response is a parameter of another operation.

    The entries are at `entries`; `method` and `path` name the operation.
    """

    method: str
    path: str
    parameter: str
    entries: str
    field: str


class StatedError(NamedTuple):
    """A declared error of an operation: its status ("404", "4XX", "default") and body schema."""

    status: str
    returns: JsonSchema


class ToolOrigin(NamedTuple):
    """The API operation that a tool (by key) comes from, with the links and errors it declares."""

    tool: str
    method: str
    path: str
    tags: tuple[str, ...] = ()
    links: tuple[StatedLink, ...] = ()
    errors: tuple[StatedError, ...] = ()


class Catalog(Record):
    """An imported catalog; `entries` counts all items met, `distinct` the names of kept tools.

    `origins` map an API's tools to its operations; `files` are all files read.
    """

    tools: tuple[Tool, ...]
    entries: int
    distinct: int
    problems: tuple[Problem, ...] = ()
    origins: tuple[ToolOrigin, ...] = ()
    files: tuple[Path, ...] = ()


def merged(catalogs: Sequence[Catalog]) -> Catalog:
    """Merge catalogs, keeping shared tools once and reporting different tools of the same name.

    The report names both files.
    """
    tools: dict[str, Tool] = {}
    first: dict[tuple[str, str], tuple[Tool, Catalog]] = {}
    clashes: list[Problem] = []
    for catalog in catalogs:
        for tool in catalog.tools:
            other, home = first.setdefault((tool.language, tool.name), (tool, catalog))
            if home is not catalog and other.key != tool.key:
                first_files = [str(one.files[0]) if one.files else "" for one in (home, catalog)]
                places = " and ".join(repr(one) if one else "another file" for one in first_files)
                what = "with other content; each is kept, and `rename` names one otherwise."
                message = f"{tool.name!r} is in {places}, {what}"
                clash = Problem(where=first_files[1], kind="duplicate_name", message=message)
                clashes.append(clash.with_changes(tool=tool.name))
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
    """A format of tools; `read` returns a path's tools and problems.

    `read` raises ConfigurationError if the path holds no tools of the format.
    """

    name: str
    read: Callable[[Path], Catalog]


def shown(value: object) -> str:
    """Return a value as messages show it: its repr, truncated if long."""
    short = Repr()
    short.maxstring = short.maxother = short.maxlong = LONGEST_SHOWN
    text = short.repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def check_catalog(tools: Sequence[Tool]) -> list[Problem]:
    """Return every weakness of the tools; an empty list means that there is none."""
    return [
        *chain.from_iterable(map(check_tool, tools)),
        *_duplicate_names(tools),
        *_similar_descriptions(tools),
    ]


def check_tool(tool: Tool) -> Iterator[Problem]:
    """Yield every weakness that a tool has by itself."""
    schemas = tool.properties
    said = {name: schema.get("description") for name, schema in schemas.items()}
    silent = [name for name, text in said.items() if not isinstance(text, str) or not text.strip()]
    undeclared = [name for name in tool.required if name not in schemas]
    choices = {name: schema.get("enum") for name, schema in schemas.items()}
    single = [
        name for name, listed in choices.items() if isinstance(listed, list) and len(listed) == 1
    ]
    levels = max(map(_levels, schemas.values()), default=0)
    crowded = (
        f"{len(schemas)} parameters are more than the {MOST_PARAMETERS} that people keep apart."
    )
    nested = f"The parameters are nested {levels} levels deep; more than {DEEPEST}"
    weaknesses: list[tuple[object, ProblemKind, str]] = [
        (not tool.description.strip(), "no_description", "The tool has no description."),
        (silent, "undescribed_parameter", f"No description says what {_listed(silent)} is for."),
        (undeclared, "undeclared_required", f"Required, but not declared: {_listed(undeclared)}."),
        (single, "single_choice", f"Only one value is allowed for {_listed(single)}."),
        (len(schemas) > MOST_PARAMETERS, "too_many_parameters", crowded),
        (levels > DEEPEST, "too_deep", f"{nested} can't be said in a request."),
    ]
    return (_problem(tool, kind, message) for is_so, kind, message in weaknesses if is_so)


def _duplicate_names(tools: Sequence[Tool]) -> Iterator[Problem]:
    named: dict[tuple[str, str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        named[tool.category, tool.language, tool.name].append(tool)
    for (category, *_), same in named.items():
        if len(same) > 1:
            what = f"{len(same)} tools of the category {category!r} have this name"
            yield _problem(same[0], "duplicate_name", f"{what}; a call of it says nothing.")


def _similar_descriptions(tools: Sequence[Tool]) -> Iterator[Problem]:
    """Report tools of a category with nearly equal descriptions (redundant, HammerBench 4.2)."""
    groups: dict[tuple[str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        groups[(tool.category, tool.language)].append(tool)
    for one, second_tool, share in chain.from_iterable(map(_similar_pairs, groups.values())):
        what = f"{share:.0%} of its words with that of {one.name!r} in the same category."
        yield _problem(second_tool, "similar_description", f"The description shares {what}")


def _similar_pairs(tools: list[Tool]) -> Iterator[tuple[Tool, Tool, float]]:
    """Find pairs of similar tools, comparing only tools that share one of their rarest words."""
    words = [frozenset(_WORDS.findall(tool.description.lower())) for tool in tools]
    rarity = Counter(chain.from_iterable(words))
    met: dict[str, list[int]] = defaultdict(list)
    for index, own in enumerate(words):
        rarest = sorted(own, key=lambda word: (rarity[word], word))
        telling = rarest[: len(own) - ceil(SIMILAR * len(own)) + 1]
        for other in sorted({earlier for word in telling for earlier in met[word]}):
            share = len(own & words[other]) / len(own | words[other])
            if share >= SIMILAR:
                yield tools[other], tools[index], share
        for word in telling:
            met[word].append(index)


def _levels(schema: object) -> int:
    """Return how deep objects and lists are nested in a parameter; 0 for a plain value."""
    if not isinstance(schema, dict):
        return 0
    properties = schema.get("properties")
    inside = list(properties.values()) if isinstance(properties, dict) else []
    inside += [schema["items"]] if "items" in schema else []
    levels = [1 + _levels(item) for item in inside]
    for key in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(key)
        levels += [_levels(branch) for branch in branches] if isinstance(branches, list) else []
    return max(levels, default=0)


def _listed(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _problem(tool: Tool, kind: ProblemKind, message: str) -> Problem:
    return Problem(where=f"{tool.category}/{tool.name}", tool=tool.name, kind=kind, message=message)
