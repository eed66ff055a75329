"""Callwright's own tools: for everyday tasks (seed/), and for whole business domains (domains/).

Everyday tools have one folder per category. Its tools.yaml is in English; each other language
has a file with `texts`, which translates the English texts, and entries by tool for exceptions.
A tool exists in a language only if all of its texts are translated.

A domain has 100 or more tools. Its file lists its entities and, for each, what is stated,
changed, done and created, and which other entity it refers to. So the results of one tool can be
arguments of another (CallNavi 3, 4.1).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.rewriting import without
from callwright.language.packs import fallback, known, packaged
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import JsonSchema, Language, Tool
from callwright.warehouse.yaml_text import read_yaml

SEED = "seed"
_TOOLS, _KINDS_FOLDER, _SCHEMAS = "tools.yaml", "kinds", "schemas.yaml"
DOMAINS = "domains"
FIELDS_FILE = "fields.yaml"
_PACKAGE, _KINDS_FILE = "callwright.generators.catalogs", "domain_kinds.yaml"
_FOLDER = f"{_PACKAGE}.domains"
_Members = Mapping[str, JsonSchema]
_ARTICLES = frozenset({"a", "an", "the", "_"})
_DONE: Mapping[str, JsonSchema] = MappingProxyType(
    {"confirmation": {"type": "string", "description": "what was done"}}
)
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


class _UntranslatedError(Exception):
    """A text has no translation in a language, so the tool does not exist in that language."""


def seed_tools(languages: Sequence[Language] | None = None) -> list[Tool]:
    """List the seed catalog's tools in `languages` (None: all), in the order of the files."""
    return [tool for tool in _shipped() if languages is None or tool.language in languages]


@lru_cache(1)
def _shipped() -> tuple[Tool, ...]:
    return tuple(read_seed_folder(files("callwright.generators.catalogs.seed")))


def read_seed_folder(folder: Traversable) -> Iterator[Tool]:
    """Yield the tools of every category in `folder`, each in every language.

    The files are packaged with callwright; a test checks them.
    """
    kinds = read_yaml((folder / _KINDS_FOLDER / _SCHEMAS).read_text(encoding="utf-8"))
    shared = {language: _texts(folder / _KINDS_FOLDER, language) for language in known()}
    categories = (one for one in folder.iterdir() if (one / _TOOLS).is_file())
    for category in sorted(categories, key=lambda one: one.name):
        content = read_yaml((category / _TOOLS).read_text(encoding="utf-8"))
        own = {language: shared[language] | _texts(category, language) for language in known()}
        for entry in content["tools"]:
            for language, texts in own.items():
                words = texts | texts.get(entry["name"], {})
                try:
                    yield _SeedEntryReader(language, kinds, words).tool(entry, content["category"])
                except _UntranslatedError:
                    continue


def _texts(folder: Traversable, language: Language) -> dict[str, Any]:
    """Return a folder's translations of English texts, and exceptions by tool; {} if no file."""
    file = folder / f"{language}.yaml"
    return (
        dict(read_yaml(file.read_text(encoding="utf-8")).get("texts", {})) if file.is_file() else {}
    )


class _SeedEntryReader(NamedTuple):
    """Reads one entry in one language: it resolves texts by language and by `kind`."""

    language: Language
    kinds: Mapping[str, JsonSchema]
    texts: Mapping[str, str]

    def tool(self, entry: Mapping[str, Any], category: str) -> Tool:
        """Return the tool of the entry.

        Raises _UntranslatedError if one of its texts is missing in this language.
        """
        parameters, returns = (
            {n: self.read(one) for n, one in entry[key].items()}
            for key in ("parameters", "returns")
        )
        return Tool(
            name=entry["name"],
            description=str(self.read(entry["description"])),
            parameters=_object(parameters, entry["required"]),
            returns=_object(returns),
            category=category,
            language=self.language,
            source=SEED,
        )

    def read(self, node: Any) -> Any:  # noqa: ANN401 - any node of a JSON document
        """Resolve a node in the language of this reader."""
        if isinstance(node, list):
            return [self.read(item) for item in node]
        if not isinstance(node, Mapping):
            return node
        if [*node] == [fallback()]:
            text = node[fallback()]
            return self.read(text) if self.language == fallback() else self._translated(text)
        kind = node.get("kind")
        if isinstance(kind, str):
            node = {**self.kinds[kind], **without({**node}, "kind")}
        return {key: self.read(value) for key, value in node.items()}

    def _translated(self, node: JsonValue) -> JsonValue:
        """Translate all texts in a JSON value; raises _UntranslatedError for a missing text."""
        if isinstance(node, list):
            whole = self.texts.get("|".join(map(str, node)))
            return list(whole.split("|")) if whole else [self._translated(item) for item in node]
        if isinstance(node, Mapping):
            return {key: self._translated(value) for key, value in node.items()}
        if not isinstance(node, str):
            return node
        if node not in self.texts:
            raise _UntranslatedError(node)
        return self.texts[node]


class Domain(NamedTuple):
    """A domain: its tools, and CallNavi's question counts for its kind by difficulty (Table 2)."""

    name: str
    composition: Mapping[str, int]
    tools: tuple[Tool, ...]


def domain_tools(names: Sequence[str] = ()) -> list[Tool]:
    """Return the tools of these domains, or of all domains if none is named.

    Raises ConfigurationError that lists the domains.
    """
    domains_by_name = {domain.name: domain for domain in load_domains()}
    unknown = [name for name in names if name not in domains_by_name]
    if unknown:
        message = f"There are no domains {unknown}; the domains are {', '.join(domains_by_name)}."
        raise ConfigurationError(message)
    return [tool for name in names or domains_by_name for tool in domains_by_name[name].tools]


@lru_cache(1)
def load_domains() -> tuple[Domain, ...]:
    """Return every domain that is packaged with callwright; a test checks the files."""
    names = sorted(file.name for file in files(_FOLDER).iterdir() if file.name.endswith(".yaml"))
    shared = packaged(_FOLDER, FIELDS_FILE)
    return tuple(
        read_domain(packaged(_FOLDER, name), shared) for name in names if name != FIELDS_FILE
    )


def read_domain(read: Mapping[str, Any], shared: Mapping[str, str]) -> Domain:
    """Return the domain in a file; `shared` describes the fields that the file does not."""
    tools = tuple(_Expansion(read, shared).tools())
    return Domain(read["name"], MappingProxyType(read["composition"]), tools)


class _Expansion:
    """Turns one domain's file into tools; lists in the file are words separated by commas."""

    def __init__(self, domain: Mapping[str, Any], shared: Mapping[str, str]) -> None:
        self._category, self._entities = domain["name"], domain["entities"]
        self._shapes = {**shared, **domain.get("fields", {})}

    def tools(self) -> Iterator[Tool]:
        for name, entity in self._entities.items():
            for handle in _listed(entity.get("found by", "")):
                words = f"find {_a(name)} by {handle}"
                yield self._tool(words, words, self._fields(handle), self._number(name))
            for phrase, target in entity.get("leads", {}).items():
                words = f"find the {phrase} of {_a(name)}"
                yield self._tool(words, words, self._number(name), self._number(target))
            for fact in _listed(entity.get("facts", "")):
                returned: JsonSchema = {_camel(fact): {"type": "string", "description": fact}}
                description = f"look up the {fact} of {_a(name)}"
                yield self._tool(f"get {name} {fact}", description, self._number(name), returned)
            for field in _listed(entity.get("changed", "")):
                given = self._number(name) | self._fields(field)
                yield self._tool(
                    f"update {name} {field}", f"change the {field} of {_a(name)}", given, _DONE
                )
            for phrase, fields in entity.get("actions", {}).items():
                words = phrase.replace("_", _a(name)) if "_" in phrase else f"{phrase} {_a(name)}"
                yield self._tool(words, words, self._number(name) | self._fields(fields), _DONE)
            if "new" in entity:
                yield self._maker(name, entity["new"])

    def _maker(self, name: str, new: Mapping[str, str]) -> Tool:
        """Return the tool that creates an entity: its verb, its fields, and the entity's owner."""
        owner = new.get("of", "")
        words = f"{new['verb']} {_a(name)}" + (f" for {_a(owner)}" if owner else "")
        given = (self._number(owner) if owner else {}) | self._fields(new.get("with", ""))
        return self._tool(f"{new['verb']} {name}", words, given, self._number(name))

    def _number(self, entity: str) -> dict[str, JsonSchema]:
        """Return the parameter that identifies an entity, both as argument and as result."""
        schema = shape_of(f"number {self._entities[entity]['number']}")
        return {_camel(f"{entity} number"): {**schema, "description": f"number of the {entity}"}}

    def _fields(self, phrases: str) -> dict[str, JsonSchema]:
        """Return a parameter for each field, whose shape its phrase or the last word gives."""
        fields: dict[str, JsonSchema] = {}
        for phrase in _listed(phrases):
            shape = self._shapes.get(phrase) or self._shapes[phrase.rsplit(maxsplit=1)[-1]]
            fields[camel(phrase)] = {**shape_of(str(shape)), "description": phrase}
        return fields

    def _tool(self, name: str, description: str, given: _Members, returned: _Members) -> Tool:
        return Tool(
            name=_camel(name),
            description=description[0].upper() + description[1:],
            parameters=_object(given),
            returns=_object(returned),
            category=self._category,
            source=DOMAINS,
        )


def _object(
    properties: Mapping[str, JsonSchema], required: Sequence[str] | None = None
) -> JsonSchema:
    """Return a closed object schema; all members are required unless `required` lists some."""
    schema: JsonSchema = {"type": "object", "properties": dict(properties)}
    needed = [*(properties if required is None else required)]
    return {**schema, "required": needed, "additionalProperties": False}


def _listed(words: str) -> list[str]:
    return [piece.strip() for piece in words.split(",") if piece.strip()]


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _camel(words: str) -> str:
    return camel(" ".join(word for word in words.split() if word not in _ARTICLES))


def shape_of(shape: str) -> JsonSchema:
    """Return the schema of a shape: a kind, range, code or choices, else a list of examples."""
    head, _, rest = shape.partition(" ")
    if (kind := packaged(_PACKAGE, _KINDS_FILE).get(shape)) is not None:
        return dict(kind)
    if head in {"like", "number"}:
        letters = rest.replace("A", "[A-HJ-NP-Z]") if head == "like" else rest
        return {"type": "string", "pattern": f"^{letters.replace('#', '[0-9]')}$"}
    if found := _RANGE.fullmatch(shape):
        return {"type": "integer", "minimum": int(found[1]), "maximum": int(found[2])}
    if "|" in shape:
        return {"type": "string", "enum": [choice.strip() for choice in shape.split("|")]}
    return {"type": "string", "examples": [example.strip() for example in shape.split(";")]}


def camel(words: str) -> str:
    """Return the words as a camel-case name: "home address" is homeAddress."""
    pieces: list[str] = re.findall(r"[A-Za-z0-9]+", words)
    first, *rest = pieces
    return first.lower() + "".join(word[0].upper() + word[1:] for word in rest)
