"""What ids look like in a document, for parameters whose own schema does not show it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple

from callwright.generators.catalogs.api_parts import mapping_of
from callwright.generators.catalogs.builder import ToolDraft
from callwright.generators.catalogs.schema_words import with_examples
from callwright.language.calls.codes import is_uuid
from callwright.language.calls.examples import usable_examples, with_told_example
from callwright.language.calls.parameters import meaning_row
from callwright.language.calls.sampling import make_value
from callwright.language.names import names_one, split_name
from callwright.language.schemas import json_type
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema

_UUID = "6f1c4b9e-2d57-4c83-a1f0-9be3d2755c18"
_WHOLE = "48213"
_MOST_OTHERS = 0.2  # of the ids that are shown, in a document whose ids are UUIDs
_FEWEST_SHOWN = 3
_SHAPES = ("pattern", "minLength", "maxLength")
_SHAPING = frozenset({"format", "pattern", "examples", "example", "enum", "const", "default"})


class _ShownId(NamedTuple):
    """The words of an id's name, and what such an id looks like."""

    words: tuple[str, ...]
    shown: str


_Met = dict[int, frozenset[_ShownId]]  # by the identity of a part


def with_shown_ids(drafts: Sequence[ToolDraft]) -> list[ToolDraft]:
    """Return the drafts with examples of their ids, where the document shows such an id elsewhere.

    That is an id of the same name, or the `id` that an operation on the same path returns; else
    a UUID, if that is what nearly all ids of the document are.
    """
    by_name: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    by_path: dict[str, list[ToolDraft]] = defaultdict(list)
    met: _Met = {}
    for draft in drafts:
        by_path[_path_of(draft)].append(draft)
        for one in _ids_in(draft.parameters, met) | _ids_in(draft.returns, met):
            by_name[one.words][one.shown] += 1
    total = sum(map(Counter.total, by_name.values()))
    uuids = sum(one[_UUID] for one in by_name.values())
    usual = _UUID if total >= _FEWEST_SHOWN and total - uuids <= total * _MOST_OTHERS else ""

    def shown_for(draft: ToolDraft, name: str) -> str:
        words = split_name(name)
        if len(words) > 1:
            return by_name[words].most_common(1)[0][0] if words in by_name else usual
        returned = (_ids_in(one.returns, met) for one in by_path[_path_of(draft)])
        own = {one.shown for ids in returned for one in ids if one.words == words}
        return own.pop() if len(own) == 1 else usual

    return [_with_ids(draft, shown_for) for draft in drafts]


def _path_of(draft: ToolDraft) -> str:
    return draft.where.rpartition("/")[0]


def _with_ids(draft: ToolDraft, shown_for: Callable[[ToolDraft, str], str]) -> ToolDraft:
    parameters = draft.parameters
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    if not isinstance(parameters, dict) or not isinstance(properties, dict):
        return draft
    shown: JsonSchema = {
        name: {**schema, "examples": [example]}
        for name, schema in properties.items()
        if isinstance(schema, dict)
        and _takes_id(name, schema)
        and with_told_example(schema) is schema
        and (example := shown_for(draft, name))
    }
    if not shown:
        return draft
    return draft._replace(parameters={**parameters, "properties": {**properties, **shown}})


def _takes_id(name: str, schema: JsonSchema) -> bool:
    """Whether a parameter takes an id as text, and neither schema nor name shows what it is like.

    A commit's is known by its name.
    """
    if not names_one(name) or json_type(schema) != "string" or _SHAPING & schema.keys():
        return False
    row = meaning_row(name, schema)
    return row is None or row.where is not None or row.is_spelled


def _ids_in(schema: Any, met: _Met) -> frozenset[_ShownId]:  # noqa: ANN401 - a part of a document
    """Return the ids that a schema and its parts show; all UUIDs are the same one.

    Parts that operations share are read once.
    """
    if not isinstance(schema, dict):
        return frozenset()
    if id(schema) not in met:
        met[id(schema)] = frozenset()  # for a part that holds itself
        members = mapping_of(schema.get("properties"))
        found = {
            _ShownId(split_name(name), _UUID if is_uuid(shown) else shown)
            for name, member in members.items()
            if isinstance(member, dict) and names_one(name) and (shown := _shown_by(name, member))
        }
        branches = [one for word in ("anyOf", "oneOf", "allOf") for one in schema.get(word) or ()]
        inner = (_ids_in(one, met) for one in (*members.values(), schema.get("items"), *branches))
        met[id(schema)] = frozenset(found).union(*inner)
    return met[id(schema)]


def _shown_by(name: str, schema: JsonSchema) -> str:
    """Return an id as a schema shows it by an example, a format or a pattern, or ""."""
    if json_type(schema) in ("integer", "number"):
        return _WHOLE
    if json_type(schema) != "string":
        return ""
    if examples := usable_examples(name, with_examples(schema)):
        return examples[0]
    if schema.get("format") == "uuid":
        return _UUID
    shaping: JsonSchema = {key: schema[key] for key in _SHAPES if key in schema}
    if "pattern" not in shaping:
        return ""
    with suppress(ReplyError):
        return str(make_value("", {"type": "string", **shaping}, DEFAULT_LANGUAGE, Random(name)))
    return ""
