"""Our own tools for everyday tasks, read from the YAML files of the folder seed/.

They stand there in English. Any other language gives its words for them in its own folder, in seed.yaml: by category, and by
tool where a tool has others, each English text with its own; a tool is there in a language where all of its texts are.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from callwright.language.packs import fallback, known, of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import JsonSchema, Language, Tool

SOURCE = "seed"
KINDS_FILE = "kinds.yaml"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _UntranslatedError(Exception):
    """A text that a language has no words for; the tool is not there in it."""


class SeedEntry(BaseModel):
    """A tool as a file of the seed catalog writes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Z][A-Za-z]*\.[A-Z][A-Za-z]*\.[a-z][A-Za-z]*$")
    description: dict[Language, str]
    parameters: dict[str, dict[str, JsonValue]]
    required: tuple[str, ...]
    returns: dict[str, dict[str, JsonValue]]


def seed_tools(languages: Sequence[Language] | None = None) -> list[Tool]:
    """List the tools of the seed catalog in these languages (all where none are given), in the order written.

    Raises ConfigurationError, naming the file and the tool, where an entry is broken.
    """
    return [tool for tool in _shipped() if languages is None or tool.language in languages]


@lru_cache(1)
def _shipped() -> tuple[Tool, ...]:
    # our own files are checked by a test: jsonschema takes half a second for all of them, in every process
    return tuple(read_seed_folder(files("callwright.generators.catalogs.seed"), checked=False))


def read_seed_folder(folder: Traversable, *, checked: bool = True) -> Iterator[Tool]:
    """Yield the tools of every category file in `folder`, each in every language; raises ConfigurationError.

    Not `checked`, schemas, and the examples in them, are taken as they are.
    """
    kinds = _loaded(folder / KINDS_FILE)
    names: set[str] = set()
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".yaml") or file.name == KINDS_FILE:
            continue
        content = _loaded(file)
        for raw in _entries(content, file.name):
            entry = _entry(raw, str(content.get("category")), file.name)
            where = f"The tool {entry.name!r} in {file.name}"
            if entry.name in names:
                raise ConfigurationError(f"{where} is written twice; give one of them another name.")
            names.add(entry.name)
            for language in known():
                texts = _texts_of(language, content["category"], entry.name)
                reading = _SeedEntryReader(language, kinds, where, texts, checked=checked)
                try:
                    yield _tool(entry, str(content["category"]), reading)
                except _UntranslatedError:
                    continue


def _texts_of(language: Language, category: str, tool: str) -> dict[str, str]:
    """The English texts that a language has words for, with those words."""
    texts = of(language).data.get("seed", {})
    of_category = texts.get(category, {})
    return {**texts.get("kinds", {}), **of_category, **of_category.get(tool, {})}


def _loaded(file: Traversable) -> dict[str, Any]:  # the parsed YAML, before anything is known of it
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), _LOADER)  # noqa: S506 - a safe loader, the fast one
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{file.name} of the seed catalog is not YAML: {error}.") from error
    if not isinstance(content, dict):
        raise ConfigurationError(f"{file.name} of the seed catalog holds {type(content).__name__}, not a mapping.")
    return content


def _entries(content: Mapping[str, Any], file_name: str) -> list[Any]:
    tools = content.get("tools")
    if not isinstance(content.get("category"), str) or not isinstance(tools, list):
        raise ConfigurationError(f"{file_name} of the seed catalog must have a 'category' word and a list of 'tools'.")
    return tools


def _entry(raw: object, category: str, file_name: str) -> SeedEntry:
    name = raw.get("name") if isinstance(raw, dict) else raw
    where = f"The tool {name!r} in {file_name}"
    try:
        entry = SeedEntry.model_validate(raw)
    except ValidationError as error:
        raise ConfigurationError(f"{where} is not written as an entry must be: {error}.") from error
    if not entry.name.startswith(f"{category}."):
        raise ConfigurationError(f"{where} must begin with its category, {category!r}.")
    undeclared = [name for name in entry.required if name not in entry.parameters]
    if undeclared:
        raise ConfigurationError(f"{where} requires {undeclared}, which are not among its parameters.")
    return entry


def _tool(entry: SeedEntry, category: str, reading: "_SeedEntryReader") -> Tool:
    return Tool(
        name=entry.name,
        description=str(reading.read(entry.description)),
        parameters=reading.object_schema(entry.parameters, entry.required),
        returns=reading.object_schema(entry.returns, tuple(entry.returns)),
        category=category,
        language=reading.language,
        source=SOURCE,
    )


class _SeedEntryReader:
    """One entry read in one language: it resolves texts by language and `kind`, and checks what comes out."""

    def __init__(
        self,
        language: Language,
        kinds: Mapping[str, JsonSchema],
        where: str,
        texts: Mapping[str, str],
        *,
        checked: bool,
    ) -> None:
        self.language = language
        self.texts = texts
        self.kinds = kinds
        self.where = where
        self.checked = checked

    def object_schema(self, properties: Mapping[str, Any], required: Sequence[str]) -> JsonSchema:
        """Make the JSON Schema of an object with these properties, with the languages and kinds resolved."""
        read = {name: self.read(schema) for name, schema in properties.items()}
        if self.checked:
            for name, schema in read.items():
                self._check(name, schema)
        return {"type": "object", "properties": read, "required": list(required), "additionalProperties": False}

    def read(self, node: Any) -> Any:  # noqa: ANN401 - any node of a JSON document
        """Resolve a node for the language of this reading."""
        if isinstance(node, list):
            return [self.read(item) for item in node]
        if not isinstance(node, Mapping):
            return node
        if fallback() in node and set(node) <= set(known()):
            if self.language in node:
                return self.read(node[self.language])
            return self._translated(node[fallback()])
        return {key: self.read(value) for key, value in self._with_kind(node).items()}

    def _translated(self, node: JsonValue) -> JsonValue:
        """English texts in the words of this language; _UntranslatedError where one is not in its seed.yaml."""
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

    def _with_kind(self, node: Mapping[str, Any]) -> dict[str, Any]:
        kind = node.get("kind")
        if not isinstance(kind, str):
            return dict(node)
        if kind not in self.kinds:
            raise ConfigurationError(f"{self.where} names the kind {kind!r}; the kinds are {sorted(self.kinds)}.")
        return {**self.kinds[kind], **{key: value for key, value in node.items() if key != "kind"}}

    def _check(self, name: str, schema: JsonSchema) -> None:
        """Refuse a schema that is none, and examples, choices and defaults that do not satisfy it."""
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise ConfigurationError(f"{self.where} has a bad schema for {name!r}: {error.message}.") from error
        validator = Draft202012Validator(schema, format_checker=FormatChecker())
        shown = [*schema.get("examples", ()), *schema.get("enum", ())]
        for value in [*shown, schema["default"]] if "default" in schema else shown:
            for problem in validator.iter_errors(value):
                raise ConfigurationError(f"{self.where} shows {value!r} for {name!r}, but {problem.message}.")
        if "enum" in schema and not all(isinstance(choice, str) for choice in schema["enum"]):
            raise ConfigurationError(f"{self.where} has choices for {name!r} that are no text; quote words like 'on'.")
