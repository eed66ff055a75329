"""What people say for the fields of a domain, written in short: "a | b", "1..9", "like AB-###", "date"."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from warehouse.errors import ConfigurationError
from warehouse.records import JsonSchema

FIELDS_FILE = "fields.yaml"
_RANGE = re.compile(r"(\d+)\.\.(\d+)")
_KINDS: Mapping[str, JsonSchema] = MappingProxyType(
    {
        "date": {"type": "string", "format": "date"},
        "time": {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"},
        "email": {
            "type": "string",
            "pattern": r"^(maple|river|cedar|stone|amber|linen|birch|coral)\.(walk|gate|field|shore)[2-9]\d@(mail|post)\.example$",
        },
        "phone": {"type": "string", "pattern": r"^555-[2-9]\d{2}-\d{4}$"},
        "address": {
            "type": "string",
            "pattern": r"^[1-9]\d (Mill|Harbour|Station|Orchard|Chapel|Quarry|Meadow) (Street|Lane|Road|Square)$",
        },
    }
)  # fmt: skip


class Fields(NamedTuple):
    """The fields that a domain describes itself, and those that are shared by all."""

    own: Mapping[str, str]
    shared: Mapping[str, str]
    file_name: str

    def schemas(self, phrases: Sequence[str]) -> dict[str, JsonSchema]:
        """A parameter for each of these fields. Raises ConfigurationError where nobody describes one."""
        return {camel(phrase): {**self._schema(phrase), "description": phrase} for phrase in phrases}

    def _schema(self, phrase: str) -> JsonSchema:
        shape = self.own.get(phrase) or self.shared.get(phrase) or self.shared.get(phrase.rsplit(maxsplit=1)[-1])
        if shape is None:
            raise ConfigurationError(
                f"{self.file_name} says nothing of the field {phrase!r}, and {FIELDS_FILE} knows no such last word."
            )
        return shape_of(str(shape))


def shape_of(shape: str) -> JsonSchema:
    """The schema that a shape stands for; what is no kind, range, code or list of choices is a list of examples."""
    head, _, rest = shape.partition(" ")
    if shape in _KINDS:
        return dict(_KINDS[shape])
    if head in {"like", "number"}:
        letters = rest.replace("A", "[A-HJ-NP-Z]") if head == "like" else rest
        return {"type": "string", "pattern": f"^{letters.replace('#', '[0-9]')}$"}
    if found := _RANGE.fullmatch(shape):
        return {"type": "integer", "minimum": int(found[1]), "maximum": int(found[2])}
    if "|" in shape:
        return {"type": "string", "enum": [choice.strip() for choice in shape.split("|")]}
    return {"type": "string", "examples": [example.strip() for example in shape.split(";")]}


def camel(words: str) -> str:
    """The words as a name: "home address" is homeAddress."""
    pieces: list[str] = re.findall(r"[A-Za-z0-9]+", words)
    first, *rest = pieces
    return first.lower() + "".join(word[0].upper() + word[1:] for word in rest)
