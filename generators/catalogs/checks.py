"""What makes a catalog hard to build from: looked for in tools wherever they came from."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from math import ceil

from callwright.generators.catalogs.catalog import Problem, ProblemKind
from callwright.language.packs import unspaced
from callwright.warehouse.records import JsonSchema, Tool

MOST_PARAMETERS = 12
DEEPEST = 3
SIMILAR = 0.85
_WORDS = re.compile(rf"[{unspaced()}]|[^\W_]+")


def check_catalog(tools: Sequence[Tool]) -> list[Problem]:
    """Every weakness of the tools, one by one; an empty list says that none was found."""
    found = [problem for tool in tools for problem in check_tool(tool)]
    return found + list(_duplicate_names(tools)) + list(_similar_descriptions(tools))


def check_tool(tool: Tool) -> Iterator[Problem]:
    """Every weakness that a tool has by itself."""
    if not tool.description.strip():
        yield _problem(tool, "no_description", "The tool has no description.")
    silent = [name for name, schema in tool.properties.items() if not _described(schema)]
    if silent:
        yield _problem(tool, "undescribed_parameter", f"No description says what {_listed(silent)} is for.")
    undeclared = [name for name in tool.required if name not in tool.properties]
    if undeclared:
        yield _problem(tool, "undeclared_required", f"Required, but not declared: {_listed(undeclared)}.")
    single = [name for name, schema in tool.properties.items() if _choices(schema) == 1]
    if single:
        yield _problem(tool, "single_choice", f"Only one value is allowed for {_listed(single)}.")
    if len(tool.properties) > MOST_PARAMETERS:
        message = f"{len(tool.properties)} parameters are more than the {MOST_PARAMETERS} that people keep apart."
        yield _problem(tool, "too_many_parameters", message)
    levels = max((_levels(schema) for schema in tool.properties.values()), default=0)
    if levels > DEEPEST:
        message = f"The parameters are nested {levels} levels deep; more than {DEEPEST} can't be said in a request."
        yield _problem(tool, "too_deep", message)


def _duplicate_names(tools: Sequence[Tool]) -> Iterator[Problem]:
    counted = Counter((tool.category, tool.language, tool.name) for tool in tools)
    first = {(tool.category, tool.language, tool.name): tool for tool in reversed(tools)}
    for place, count in counted.items():
        if count > 1:
            message = f"{count} tools of the category {place[0]!r} have this name; a call of it says nothing."
            yield _problem(first[place], "duplicate_name", message)


def _similar_descriptions(tools: Sequence[Tool]) -> Iterator[Problem]:
    """Pairs of a category whose descriptions share nearly all words (redundant tools, HammerBench 4.2)."""
    groups: dict[tuple[str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        groups[(tool.category, tool.language)].append(tool)
    for group in groups.values():
        for one, other, share in _similar_pairs(group):
            message = f"The description shares {share:.0%} of its words with that of {one.name!r} in the same category."
            yield _problem(other, "similar_description", message)


def _similar_pairs(tools: list[Tool]) -> Iterator[tuple[Tool, Tool, float]]:
    """Pairs over the threshold; only tools that share one of their rarest words are compared at all."""
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


def _described(schema: JsonSchema) -> bool:
    description = schema.get("description")
    return isinstance(description, str) and bool(description.strip())


def _choices(schema: JsonSchema) -> int:
    choices = schema.get("enum")
    return len(choices) if isinstance(choices, list) else 0


def _levels(schema: object) -> int:
    """How many objects and lists stand inside each other in a parameter; 0 for a plain value."""
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
