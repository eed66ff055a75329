"""Our own tools for everyday tasks, read from the YAML files of the folder seed/.

They stand there in English. Any other language gives its words for them in its own folder, in seed.yaml: by category, and by
tool where a tool has others, each English text with its own; a tool is there in a language where all of its texts are.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.packs import fallback, known, of
from callwright.warehouse.records import JsonSchema, Language, Tool
from callwright.warehouse.yaml_text import read_yaml

SOURCE = "seed"
KINDS_FILE = "kinds.yaml"


class _UntranslatedError(Exception):
    """A text that a language has no words for; the tool is not there in it."""


def seed_tools(languages: Sequence[Language] | None = None) -> list[Tool]:
    """List the tools of the seed catalog in these languages (all where none are given), in the order written."""
    return [tool for tool in _shipped() if languages is None or tool.language in languages]


@lru_cache(1)
def _shipped() -> tuple[Tool, ...]:
    return tuple(read_seed_folder(files("callwright.generators.catalogs.seed")))


def read_seed_folder(folder: Traversable) -> Iterator[Tool]:
    """Yield the tools of every category file in `folder`, each in every language. They are our own: a test checks them."""
    kinds = _loaded(folder / KINDS_FILE)
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".yaml") or file.name == KINDS_FILE:
            continue
        content = _loaded(file)
        for entry in content["tools"]:
            for language in known():
                reading = _SeedEntryReader(language, kinds, _texts_of(language, content["category"], entry["name"]))
                try:
                    yield _tool(entry, content["category"], reading)
                except _UntranslatedError:
                    continue


def _texts_of(language: Language, category: str, tool: str) -> dict[str, str]:
    """The English texts that a language has words for, with those words."""
    texts = of(language).data.get("seed", {})
    of_category = texts.get(category, {})
    return {**texts.get("kinds", {}), **of_category, **of_category.get(tool, {})}


def _loaded(file: Traversable) -> dict[str, Any]:
    content: dict[str, Any] = read_yaml(file.read_text(encoding="utf-8"))
    return content


def _tool(entry: Mapping[str, Any], category: str, reading: "_SeedEntryReader") -> Tool:
    return Tool(
        name=entry["name"],
        description=str(reading.read(entry["description"])),
        parameters=reading.object_schema(entry["parameters"], entry["required"]),
        returns=reading.object_schema(entry["returns"], list(entry["returns"])),
        category=category,
        language=reading.language,
        source=SOURCE,
    )


class _SeedEntryReader(NamedTuple):
    """One entry read in one language: it resolves texts by language and `kind`."""

    language: Language
    kinds: Mapping[str, JsonSchema]
    texts: Mapping[str, str]

    def object_schema(self, properties: Mapping[str, Any], required: Sequence[str]) -> JsonSchema:
        """Make the JSON Schema of an object with these properties, with the languages and kinds resolved."""
        read = {name: self.read(schema) for name, schema in properties.items()}
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
        return {**self.kinds[kind], **{key: value for key, value in node.items() if key != "kind"}}
