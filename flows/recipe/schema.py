"""The JSON Schema of recipes, for editors, and for errors that list settings and names."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from callwright.flows.recipe.parts import Recipe
from callwright.generators.catalogs import FORMATS
from callwright.generators.catalogs.own_catalogs import load_domains, seed_tools
from callwright.generators.imports.reading import SOURCES
from callwright.generators.kinds import all_kinds, kind_named
from callwright.generators.toolset.sketches import load_categories
from callwright.language.packs import known as known_languages
from callwright.language.packs import language_names
from callwright.warehouse.errors import ConfigurationError

DataPath = tuple[str | int, ...]
Node = dict[str, Any]  # a node of a JSON Schema
EACH = "*"  # any item of a list
KEY = "~"  # any key of a mapping
_ALIKE = 0.8
_DEEPEST = 5


class NamedPlace(NamedTuple):
    """A place of a recipe that holds known names: in the recipe, and in its schema.

    `defined` is the class and setting in the schema.
    """

    path: tuple[str, ...]
    noun: str
    nouns: str
    known: Callable[[], Iterable[str]]
    defined: tuple[str, str] = ("", "")

    def accepts(self, name: str) -> bool:
        """Whether such a name exists; more kinds of samples and languages do than are listed."""
        if self.known is known_languages:
            return name in language_names()
        if self.known is not all_kinds:
            return name in self.known()
        try:
            kind_named(name)
        except ConfigurationError:
            return False
        return True


def _prompts() -> Iterable[str]:
    from callwright.flows.stages import prompt_paths

    return sorted(prompt_paths())


NAMED_PLACES = (
    NamedPlace(
        ("languages", EACH),
        "language",
        "languages (a language model also takes any other ISO 639 code, such as fr or de)",
        known_languages,
        ("", "languages"),
    ),
    NamedPlace(("samples", KEY), "kind of sample", "kinds", all_kinds),
    NamedPlace(
        ("samples", EACH, "format"),
        "format of samples",
        "formats",
        lambda: SOURCES,
        ("SampleSource", "format"),
    ),
    NamedPlace(
        ("avoid", EACH, "format"),
        "format of samples",
        "formats",
        lambda: SOURCES,
        ("AvoidedSource", "format"),
    ),
    NamedPlace(
        ("tools", EACH, "import"),
        "catalog format",
        "formats",
        lambda: FORMATS,
        ("ImportedTools", "import"),
    ),
    NamedPlace(
        ("tools", EACH, "seed", EACH),
        "category in the seed catalog",
        "categories",
        lambda: sorted({tool.category for tool in seed_tools()}),
        ("SeedTools", "seed"),
    ),
    NamedPlace(
        ("tools", EACH, "generate", EACH),
        "category of tools to make",
        "categories",
        lambda: [category.name for category in load_categories()],
        ("GeneratedTools", "generate"),
    ),
    NamedPlace(
        ("tools", EACH, "domains", EACH),
        "domain",
        "domains",
        lambda: [domain.name for domain in load_domains()],
        ("DomainTools", "domains"),
    ),
    NamedPlace(("prompts", KEY), "prompt", "prompts", _prompts),
)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that was probably meant; "" if none is similar."""
    from rapidfuzz import process
    from rapidfuzz.distance import JaroWinkler

    scorer = JaroWinkler.normalized_similarity
    found = process.extractOne(
        name.casefold(), list(known), scorer=scorer, processor=str.casefold, score_cutoff=_ALIKE
    )
    return str(found[0]) if found else ""


@cache
def settings_schema() -> Node:
    """Return the schema of recipes that pydantic generates."""
    return Recipe.model_json_schema(by_alias=True)


def recipe_schema() -> Node:
    """Return the schema for editors, with all known names of languages, kinds, formats and more.

    The others are categories, domains and prompts.
    """
    schema = Recipe.model_json_schema(by_alias=True)
    for place in NAMED_PLACES:
        names = list(language_names()) if place.known is known_languages else list(place.known())
        if place.defined[1]:
            owner = schema["$defs"][place.defined[0]] if place.defined[0] else schema
            node = owner["properties"][place.defined[1]]
            for schema_node in (node, *node.get("anyOf", ())):
                if schema_node.get("type") == "array":
                    schema_node["items"] = {"enum": [*names]}
                elif schema_node.get("type") == "string" and "const" not in schema_node:
                    schema_node.pop("type")
                    schema_node["enum"] = [*names]
    # kinds that are made of any other
    any_kind = {"anyOf": [{"enum": list(all_kinds())}, {"pattern": "_"}]}
    schema["properties"]["samples"]["propertyNames"] = any_kind
    schema["properties"]["prompts"]["propertyNames"] = {"enum": list(_prompts())}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "A callwright recipe",
    }


def settings_at(path: DataPath, tags: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the settings known at a place; `tags` name which of several shapes it has."""
    names = (name for node in _nodes_at(path, tags) for name in node.get("properties", ()))
    return tuple(dict.fromkeys(names))


def meaning_of(path: DataPath, tags: Sequence[str] = ()) -> str:
    """Return the description of a setting; "" if it has none."""
    found = (node.get("properties", {}).get(path[-1], {}) for node in _nodes_at(path[:-1], tags))
    return next((str(one["description"]) for one in found if one.get("description")), "")


def places_of(name: str) -> tuple[str, ...]:
    """Return the dotted places with a setting of this name, shallowest first; "" is the top."""
    setting_places = [
        place
        for place, node in _everywhere(settings_schema(), "", 0)
        if name in node.get("properties", {})
    ]
    return tuple(sorted(dict.fromkeys(setting_places), key=lambda place: place.count(".")))


def _everywhere(node: Node, place: str, depth: int) -> Iterator[tuple[str, Node]]:
    if depth > _DEEPEST:
        return
    for node_shape in _shapes(node):
        yield place, node_shape
        for name, inner in node_shape.get("properties", {}).items():
            yield from _everywhere(inner, f"{place}.{name}".lstrip("."), depth + 1)
        if isinstance(node_shape.get("items"), dict):
            yield from _everywhere(node_shape["items"], f"{place}[]", depth + 1)


def _nodes_at(path: DataPath, tags: Sequence[str]) -> list[Node]:
    """Return the shapes that a place may have; only those that tags name, if any."""
    nodes = [settings_schema()]
    for step in path:
        nodes = [inner for node in nodes for one in _shapes(node) for inner in _inside(one, step)]
    named = [settings_schema()["$defs"][name] for tag in tags for name in _defined(tag, nodes)]
    return [one for node in named or nodes for one in _shapes(node)]


def _defined(tag: str, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the class name for a tag: the tag itself, or the class that it selects."""
    if tag in settings_schema()["$defs"]:
        yield tag
    for node in nodes:
        for one in (node, *node.get("anyOf", ())):
            mapping: Mapping[str, str] = one.get("discriminator", {}).get("mapping", {})
            if tag in mapping:
                yield mapping[tag].rpartition("/")[2]


def _inside(node: Node, step: str | int) -> Iterator[Node]:
    more = node.get("items") if isinstance(step, int) else node.get("additionalProperties")
    if step in node.get("properties", {}):
        yield node["properties"][step]
    elif isinstance(more, dict):
        yield more


def _shapes(node: Node) -> Iterator[Node]:
    """Yield each shape that a node may have, without references and alternatives."""
    if "$ref" in node:
        yield from _shapes(settings_schema()["$defs"][node["$ref"].rpartition("/")[2]])
        return
    alternatives = [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())]
    if not alternatives:
        yield node
    for one in alternatives:
        yield from _shapes(one)
