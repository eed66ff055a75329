"""What ids look like in a document, for parameters whose own schema does not show it.

Ids are shown by the schemas of parameters and results, and by the examples of whole bodies. What
an id of unknown form looks like is said by another one of the same thing, else by most ids of the
document.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.api_documents import Fields
from callwright.generators.catalogs.api_parts import mapping_of
from callwright.generators.catalogs.builder import ToolDraft
from callwright.generators.catalogs.schema_words import with_examples
from callwright.language.calls.codes import is_uuid, prefix_of
from callwright.language.calls.examples import (
    usable_examples,
    with_told_example,
    without_placeholders,
)
from callwright.language.calls.parameters import meaning_row, says_name
from callwright.language.calls.sampling import make_value
from callwright.language.names import names_one, singular, split_name
from callwright.language.schemas import fits, json_type
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema

_UUID = "6f1c4b9e-2d57-4c83-a1f0-9be3d2755c18"
_WHOLE = "48213"
_FEWEST_SHOWN, _FEWEST_SIGNS = 3, 3
_LONGEST = 64
_SHAPES = ("pattern", "minLength", "maxLength")
_SHAPING = frozenset({"format", "pattern", "examples", "example", "enum", "const", "default"})
_EXAMPLES = ("example", "examples", "x-example", "x-examples")
_NUMBERS = ("integer", "number")
_BRANCHES = ("anyOf", "oneOf", "allOf")
_CODE = re.compile(r"(?=.*\d)[\w.:=-]+|[A-Z]{5,}")
_IN_PATH = re.compile(r"([^/{}]+)/\{(\w+)\}(?!.*/\{\2\})")

_LAST_IN_PATH = re.compile(r"\{(\w+)\}$")
_ID_OF = re.compile(
    r"\b(?:ids?|identifiers?) (?:of|for) (?:the|an?|this|that) ([a-z]+)\b", re.IGNORECASE
)

_Words = tuple[str, ...]


class _ShownId(NamedTuple):
    """The words of an id's name, and what such an id looks like."""

    words: _Words
    shown: str


class _Form(NamedTuple):
    """How codes are written: whether a prefix tells of what they are, and in which characters."""

    is_prefixed: bool
    is_of_digits: bool
    has_small: bool
    has_capitals: bool
    has_signs: bool


_Met = dict[tuple[int, str], frozenset[_ShownId]]  # by the identity of a part, and what it is of


def with_shown_ids(drafts: Sequence[ToolDraft], document: Fields) -> list[ToolDraft]:
    """Return the drafts with examples of their ids, where the document shows such ids elsewhere."""
    known, done = _known_ids(drafts, document), dict[tuple[int, str, str], Any]()

    def with_ids(draft: ToolDraft) -> ToolDraft:
        fill = _Filling(known, _path_of(draft), done).filled
        return draft._replace(parameters=fill(draft.parameters), returns=fill(draft.returns))

    return [with_ids(draft) for draft in drafts]


class _KnownIds(NamedTuple):
    """The ids that a document shows: by the words of their names, on each path, and the usual."""

    by_name: Mapping[_Words, str]
    on_path: Mapping[str, Mapping[_Words, frozenset[str]]]
    usual: str
    by_prefix: bool  # whether things are told apart by the prefixes of their ids

    def shown_for(self, name: str, of: str, path: str) -> str:
        """Return what an id looks like: one of this name, of a thing `of` that name, or usual."""
        words = split_name(_first_of(name).removesuffix("s"))
        if len(words) == 1:
            thing = singular(of or _thing_before(name, path))
            words = (*split_name(thing), *words) if thing else words
            known = self.by_name.get(words) if thing else ""
            return known or self._returned(name, path) or self._named(words)
        return self._named(words)

    def told_by(self, name: str, schema: JsonSchema) -> str:
        """Return an id of what a description says that it is of, "" if none is known."""
        found = _ID_OF.search(str(schema.get("description") or ""))
        return (
            self.by_name.get((singular(found[1].lower()), *split_name(name)), "") if found else ""
        )

    def _returned(self, name: str, path: str) -> str:
        """Return the one `id` that operations on a path return, if the path ends with that."""
        is_inside = f"{{{name}}}/" in path.replace("~1", "/")
        shown = self.on_path.get(path, {}).get(split_name(name.removesuffix("s")), frozenset())
        return next(iter(shown)) if len(shown) == 1 and not is_inside else ""

    def _named(self, words: _Words) -> str:
        """Return an id of this name or its last words ("assigned user id"), or a usual one."""
        ends = (words[at:] for at in range(len(words) - 1))
        known = next((self.by_name[end] for end in ends if end in self.by_name), "")
        return known or self._usual_of(words)

    def _usual_of(self, words: _Words) -> str:
        """Return the usual id, with letters of its thing where things differ in them."""
        prefix = prefix_of(self.usual)
        if not self.by_prefix or len(words) == 1:
            return self.usual
        letters = prefix.rstrip("-_:.")
        own = "".join(words[:-1])[: len(letters)]
        sign, rest = prefix[len(letters) :], self.usual[len(prefix) :]
        return f"{own.upper() if letters.isupper() else own}{sign}{rest}"


def _known_ids(drafts: Sequence[ToolDraft], document: Fields) -> _KnownIds:
    by_name: dict[_Words, Counter[str]] = defaultdict(Counter)
    on_path: dict[str, dict[_Words, set[str]]] = defaultdict(lambda: defaultdict(set))
    met: _Met = {}
    for draft in drafts:
        own, returned = _ids_in(draft.parameters, "", met), _ids_in(draft.returns, "", met)
        for one in returned:
            on_path[_path_of(draft)][one.words].add(one.shown)
        # in an order of their own, as ties go to the first
        for one in sorted(own | returned):
            by_name[one.words][one.shown] += 1
            # "/categories/{id}" shows a category's
            thing = _thing_before("_".join(one.words), _path_of(draft))
            if thing and len(one.words) == 1 and one in own:
                by_name[*split_name(thing), *one.words][one.shown] += 1
        if own_id := _id_of_its_thing(draft):
            by_name[own_id.words][own_id.shown] += 1
    for one in _ids_in_examples(document):
        if one.shown:
            by_name[one.words][one.shown] += 1
    usual, by_prefix = _usual(by_name)
    return _KnownIds(
        {words: _commonest(counts) for words, counts in by_name.items()},
        {
            path: {words: frozenset(shown) for words, shown in of_path.items()}
            for path, of_path in on_path.items()
        },
        usual,
        by_prefix,
    )


def _id_of_its_thing(draft: ToolDraft) -> _ShownId | None:
    """Return the id that "/checkouts/{checkout_id}" returns, as that of its parameter."""
    found = _LAST_IN_PATH.search(_path_of(draft))
    members = mapping_of(mapping_of(draft.returns).get("properties"))
    shown = _shown_by("id", mapping_of(members.get("id"))) if found else ""
    words = split_name(found[1]) if found else ()
    return _ShownId(words, shown) if len(words) > 1 and shown else None


def _commonest(counts: Counter[str]) -> str:
    stated = Counter({shown: count for shown, count in counts.items() if shown != _WHOLE})
    # "1" is the first that comes to a writer's mind
    longer = Counter({one: count for one, count in stated.items() if len(one) >= _FEWEST_SIGNS})
    return (longer or stated or counts).most_common(1)[0][0]


def _usual(by_name: Mapping[_Words, Counter[str]]) -> tuple[str, bool]:
    """Return an id in the commonest form, "" if few ids are shown, and whether prefixes differ."""
    by_form: dict[_Form, list[str]] = defaultdict(list)
    for shown in chain.from_iterable(by_name.values()):
        if len(shown) <= _LONGEST and _CODE.fullmatch(shown):
            by_form[_form_of(shown)].append(shown)
    alike = max(by_form.values(), key=len, default=[])
    if sum(map(len, by_form.values())) < _FEWEST_SHOWN:
        return "", False
    stated = [one for one in alike if one != _WHOLE] or alike
    length = Counter(map(len, stated)).most_common(1)[0][0]
    usual = next(one for one in stated if len(one) == length)
    return usual, len({prefix_of(one) for one in alike}) > 1


def _form_of(shown: str) -> _Form:
    prefix = prefix_of(shown)
    rest = shown.removeprefix(prefix)
    return _Form(
        bool(prefix),
        rest.isdecimal(),
        any(map(str.islower, rest)),
        any(map(str.isupper, rest)),
        not rest.isalnum(),
    )


def _path_of(draft: ToolDraft) -> str:
    return draft.where.rpartition("/")[0]


def _first_of(name: str) -> str:
    """Return the first of what a name offers: what takes an "id_or_name" takes an ID."""
    return "_".join(split_name(name)).partition("_or_")[0] or name


def _thing_before(name: str, path: str) -> str:
    """Return what a path's parameter is the id of: the step before it in the singular, or ""."""
    found = _IN_PATH.findall(path.replace("~1", "/"))
    return next((singular(step) for step, parameter in found if parameter == name), "")


class _Filling(NamedTuple):
    """Gives ids examples in the operations on a path; `done` has the parts that are done with."""

    known: _KnownIds
    path: str
    done: dict[tuple[int, str, str], Any]

    def filled(self, schema: Any, of: str = "") -> Any:  # noqa: ANN401 - a part of a document
        """Return a schema with examples of ids whose form it leaves open; `of` is what it is of.

        What holds no such ids stays the same object, so that operations go on sharing it.
        """
        if not isinstance(schema, dict):
            return schema
        place = id(schema), of, "" if of else self.path
        if place not in self.done:
            self.done[place] = schema  # for a part that holds itself
            new = dict(schema)
            for word in _BRANCHES:
                if isinstance(schema.get(word), list):
                    new[word] = [self.filled(one, of) for one in schema[word]]
            if "items" in schema:
                new["items"] = self.filled(schema["items"], of)
            if members := mapping_of(schema.get("properties")):
                new["properties"] = {
                    name: self._member(name, one, of) for name, one in members.items()
                }
            self.done[place] = new if _has_other_parts(new, schema) else schema
        return self.done[place]

    def _member(self, name: str, schema: Any, of: str) -> Any:  # noqa: ANN401 - as above
        if not isinstance(schema, dict) or not names_one(_first_of(name)):
            return self.filled(schema, name)
        is_list = json_type(schema) == "array"
        one = schema.get("items") if is_list else schema
        if not isinstance(one, dict):
            return schema
        if not is_list and json_type(one) == "string":
            one = without_placeholders(name, one)
        if "examples" in (schema if is_list else one):
            return schema
        if default := _default_shown(one):
            return {**schema, "examples": [[default] if is_list else default]}
        if not _is_open(name, one):
            return schema
        is_uuid_told = json_type(one) == "string" and _says_uuid(name, one)
        told = self.known.told_by(name, one)
        shown: JsonValue = told or self.known.shown_for(name, of, self.path)
        shown = _UUID if is_uuid_told else shown
        if json_type(one) in _NUMBERS:
            shown = int(str(shown)) if str(shown).isdecimal() and shown != _WHOLE else ""
        if shown == "" or not fits(shown, one):
            return schema
        return {**schema, "examples": [[shown] if is_list else shown]}


def _has_other_parts(new: JsonSchema, old: JsonSchema) -> bool:
    """Whether two schemas of the same keywords hold other parts, as objects."""
    words = (word for word in ("properties", "items", *_BRANCHES) if word in old)
    return any(
        one is not other
        for word in words
        for one, other in zip(_parts(new[word]), _parts(old[word]), strict=True)
    )


def _parts(held: Any) -> list[Any]:  # noqa: ANN401 - as above
    return [*held.values()] if isinstance(held, dict) else [*held] if isinstance(held, list) else []


def _is_open(name: str, schema: JsonSchema) -> bool:
    """Whether neither schema nor name shows what an id is like. A commit's is known by its name."""
    kind = json_type(schema)
    if kind in _NUMBERS:
        return not (_SHAPING - {"format"}) & schema.keys()
    told = {"type": kind, **schema}
    shaping = _SHAPING & schema.keys() - ({"pattern"} if _takes_all(schema) else set())
    if kind != "string" or shaping or with_told_example(told) is not told:
        return False
    if says_name(str(schema.get("description") or "")):
        return False
    row = meaning_row(name, schema)
    is_open = row is None or row.where is not None or row.is_spelled
    return is_open or _says_uuid(name, schema)


def _says_uuid(name: str, schema: JsonSchema) -> bool:
    """Whether a name or a description says that an id is a UUID."""
    row = meaning_row(name, schema)
    return row is not None and row.give.get("faker") == "uuid4"


def _ids_in(schema: Any, of: str, met: _Met) -> frozenset[_ShownId]:  # noqa: ANN401 - as above
    """Return the ids that a schema and its parts show; `of` is what it describes.

    All UUIDs are the same one. Parts that operations share are read once.
    """
    if not isinstance(schema, dict):
        return frozenset()
    place = id(schema), of
    if place not in met:
        met[place] = frozenset()  # for a part that holds itself
        members = mapping_of(schema.get("properties"))
        shown = (
            (name, one)
            for name, member in members.items()
            if isinstance(member, dict) and names_one(name) and (one := _shown_by(name, member))
        )
        found = {one for name, id_ in shown for one in _named(name, id_, of)}
        for example in with_examples(schema).get("examples") or ():
            if isinstance(example, dict):
                found |= {*_ids_of(example, of)}
        branches = [one for word in _BRANCHES for one in schema.get(word) or ()]
        inner = [_ids_in(one, name, met) for name, one in members.items()]
        inner += [_ids_in(one, of, met) for one in (schema.get("items"), *branches)]
        met[place] = frozenset(found).union(*inner)
    return met[place]


def _named(name: str, shown: str, of: str) -> Iterator[_ShownId]:
    """Yield an id under its own name and, where that is `id`, under that of what it is of."""
    words = split_name(name.removesuffix("s"))
    text = _UUID if is_uuid(shown) else shown
    yield _ShownId(words, text)
    if len(words) == 1 and of:
        yield _ShownId((*split_name(singular(of)), *words), text)


def _shown_by(name: str, schema: JsonSchema) -> str:
    """Return an id as a schema shows it by an example, a format or a pattern, or ""."""
    plain = with_told_example(with_examples(schema))
    if json_type(schema) in _NUMBERS:
        whole = (one for one in plain.get("examples") or () if isinstance(one, int))
        return str(next(whole, _WHOLE))
    if json_type(schema) != "string":
        return ""
    if examples := usable_examples(name, plain):
        return examples[0]
    if default := _default_shown(schema):
        return default
    if schema.get("format") == "uuid":
        return _UUID
    shaping: JsonSchema = {key: schema[key] for key in _SHAPES if key in schema}
    if "pattern" not in shaping or _takes_all(schema):
        return ""
    with suppress(ReplyError):
        return str(make_value("", {"type": "string", **shaping}, DEFAULT_LANGUAGE, Random(name)))
    return ""


def _takes_all(schema: JsonSchema) -> bool:
    """Whether a pattern takes words and numbers alike, so that it shows no form."""
    pattern = {key: schema[key] for key in ("pattern",) if key in schema}
    return fits("word", pattern) and fits(_WHOLE, pattern)


def _default_shown(schema: JsonSchema) -> str:
    """Return a default that is a code, or "". No id goes without saying: it shows what is one."""
    default = schema.get("default")
    return default if isinstance(default, str) and _CODE.fullmatch(default) else ""


def _ids_in_examples(document: Fields) -> Iterator[_ShownId]:
    """Yield the ids in the examples of a document, such as those of whole bodies."""
    waiting: deque[JsonValue] = deque([document])
    while waiting:
        part = waiting.popleft()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            for word, held in part.items():
                if word in _EXAMPLES:
                    yield from _ids_of(held)
                elif isinstance(held, dict | list):
                    waiting.append(held)


def _ids_of(example: JsonValue, of: str = "") -> Iterator[_ShownId]:
    """Yield the ids in an example; `of` is what it is one of."""
    waiting = deque([(example, of)])
    while waiting:
        part, thing = waiting.popleft()
        if isinstance(part, list):
            waiting += [(one, thing) for one in part]
        elif isinstance(part, dict):
            for name, held in part.items():
                if isinstance(held, dict | list):
                    waiting.append((held, "" if name == "value" else name))
                if names_one(name):
                    for shown in held if isinstance(held, list) else [held]:
                        yield from _named(name, _as_text(name, shown), thing)


def _as_text(name: str, shown: JsonValue) -> str:
    """Return an example of an id as text, "" if it shows none."""
    if isinstance(shown, int) and not isinstance(shown, bool):
        return str(shown)
    usable = usable_examples(name, {"examples": [shown]})
    return usable[0] if usable else ""
