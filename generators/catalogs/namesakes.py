"""What a document says of a parameter only where another operation takes one of the same name."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from callwright.generators.catalogs.api_parts import mapping_of
from callwright.generators.catalogs.builder import ToolDraft
from callwright.generators.catalogs.catalog import Note
from callwright.language.names import humanise, split_name
from callwright.language.schemas import json_type
from callwright.language.text import fold
from callwright.warehouse.records import JsonSchema

# "Should include the 3 character language code."
_TELLS_FORM = re.compile(
    r"\b(?:iso|codes?|formats?|formatted|\d+[ -](?:character|letter|digit)s?)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
# of two things they are two things: an event's name has another form than a user's
_OF_ITS_THING = frozenset(
    {"id", "key", "name", "title", "type", "kind", "status", "state", "value"}
)
_TELLING = frozenset({"enum", "const", "pattern", "format", "example", "examples", "default"})


def with_told_forms(drafts: Sequence[ToolDraft]) -> list[ToolDraft]:
    """Return the drafts, with the form of texts that only a parameter of the same name tells.

    The sentence is added where nothing else tells the form, and one sentence alone is known.
    """
    told: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for draft in drafts:
        for name, schema in _texts(draft):
            described = str(schema.get("description") or "")
            found = (one for one in _SENTENCE.split(described) if _TELLS_FORM.search(one))
            told[split_name(name)] |= {*found}
    return [_with_forms(draft, told) for draft in drafts]


def _with_forms(draft: ToolDraft, told: Mapping[tuple[str, ...], set[str]]) -> ToolDraft:
    added = {}
    for name, schema in _texts(draft):
        words = split_name(name)
        known = told.get(words, set()) if {*words} - _OF_ITS_THING else set()
        described = fold(str(schema.get("description") or ""))
        says_nothing = described in ("", fold(" ".join(words)))
        if says_nothing and len(known) == 1 and not _TELLING & schema.keys():
            own = humanise(name)
            form = next(iter(known)).strip()
            added[name] = schema | {"description": f"{own[:1].upper()}{own[1:]}. {form}"}
    if not added:
        return draft
    parameters = mapping_of(draft.parameters)
    properties = {**mapping_of(parameters.get("properties")), **added}
    notes = tuple(
        Note("told_elsewhere", "Another operation tells its form.", name) for name in added
    )
    return draft._replace(
        parameters={**parameters, "properties": properties}, notes=(*draft.notes, *notes)
    )


def _texts(draft: ToolDraft) -> Iterator[tuple[str, JsonSchema]]:
    """Yield the parameters of a draft that are texts."""
    for name, schema in mapping_of(mapping_of(draft.parameters).get("properties")).items():
        if isinstance(schema, dict) and json_type(schema) == "string":
            yield name, schema
