"""The values of a call that stand for themselves, and which parameters of its tool could take each other's."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from pydantic import JsonValue

from callwright.language.names import split_name
from callwright.language.packs import packs_of, puts_spaces, widened
from callwright.language.readers.units import Unit, quantity_words, unit_named, unit_of
from callwright.language.schemas import choices_of, fits, kind_of
from callwright.language.text import deep_stem, empty, fold, words_of
from callwright.validators.values.said import schema_words
from callwright.warehouse.records import DEFAULT_LANGUAGE, Arguments, JsonSchema, Tool

Sort = Literal["boolean", "number", "day", "clock", "moment", "choice", "code", "name"]
Edge = Literal["", "first", "last"]
Role = Literal["", "from", "to"]
Lead = Literal["at", "by", "for"]
LEADS: tuple[Lead, ...] = get_args(Lead)
_FOLLOWS: dict[Lead, str] = {"at": "places", "by": "makers", "for": "served"}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d(?::00)?")
_PERCENT, _FRACTION = Unit("percent", 1), Unit("percent", 100)
_SCALE = {"c": Unit("celsius", 1), "f": Unit("fahrenheit", 1)}
_LETTER = re.compile(r"[^\W\d_]")
MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})[ T]([0-2]\d:[0-5]\d)(?::00)?(?:\.0+)?(?:Z|\+00:00)?")
_TIMED: dict[Sort, re.Pattern[str]] = {"day": _DAY, "clock": _CLOCK, "moment": MOMENT}
# Beside a day that has a parameter of its own a text for a time takes no day, and the other way round.
_DAYS_AND_TIMES = frozenset({"date", "day", "time"})
_KINDS: dict[Sort, str] = {"day": "date", "clock": "time", "moment": "date-time"}
_OTHER_TIMES: dict[Sort, frozenset[str]] = {
    "day": frozenset({"time"}), "clock": frozenset({"date", "day"}), "moment": frozenset(),
}  # fmt: skip
# What schemas call things, whatever language people speak.
_CODED = frozenset(
    ["id", "ids", "key", "code", "token", "ref", "reference", "no", "sku", "zip", "phone", "iban", "serial", "uuid"]
)
_GIVERS = frozenset(["from", "source", "origin", "departure", "sender", "payer", "old", "previous", "current", "base"])
_TAKERS = frozenset(["to", "target", "destination", "arrival", "recipient", "receiver", "payee", "new", "quote"])
_ROLES = _GIVERS | _TAKERS | frozenset(["first", "second", "home", "away"])
_EDGES = frozenset(
    ["start", "end", "begin", "min", "max", "minimum", "maximum", "lower", "upper", "between", "entre", "up", "down"]
)
_EACH = frozenset({
    "per", "each", "every", "unit", "rate", "interval", "frequency", "hourly", "daily", "nightly", "weekly", "monthly",
})  # fmt: skip
_NAMED = frozenset({"name", "title"})
_RANKS = ({"1", "first", "one", "a"}, {"2", "second", "two", "b"}, {"3", "third", "three", "c"})
_FIRST = re.compile(r"from|desde|start\w*|begin\w*|since|after|first|check-?in|depart\w*|min|minimum|lower|lowest")
_LAST = re.compile(r"to|hasta|end\w*|until|till|before|last|check-?out|return\w*|through|max|maximum|upper|highest")
_TIME_FORM = re.compile(r"\bHH:MM\b|\bYYYY-MM-DD\b", re.IGNORECASE)
_RETURN = re.compile(r"check-?out(?:date|time)?|return\w*")
_SCALES = {1_000_000: "millions", 10_000: "myriads", 1_000: "thousands"}
_HEAD_END = re.compile(
    widened(r"\s(?:of|for|to|from|that|which|where|who|in|at|by|with|as|on|when|de|del|para|que|con|en)\s|@[,.;:(]|$"),
    re.IGNORECASE,
)
_SIGNS = 1  # characters that are the head of a description in a script without spaces


class Parameter(NamedTuple):
    """A parameter, or a member of one, as its schema describes it."""

    name: str
    schema: JsonSchema
    parent: str = ""

    @property
    def description(self) -> str:
        """What its schema says it is."""
        return str(self.schema.get("description", ""))

    @property
    def told(self) -> str:
        """Its name in words and its description, in small letters."""
        return f"{' '.join(split_name(self.name))} {self.description}".lower()

    @property
    def words(self) -> frozenset[str]:
        """The words by which people may name it."""
        return _naming(self.name, f"{self.schema.get('title', '')} {self.description}")

    @property
    def heads(self) -> frozenset[str]:
        """What kind of thing it is: the last word of its name that is no role, the head of its description."""
        return _heads(self.name, self.description)

    @property
    def kind(self) -> str:
        """Its description without the word for a name: what has the name."""
        return re.sub(rf"(?:{schema_words('named').pattern})$", "", self.description)

    @property
    def is_written(self) -> bool:
        """Whether it is for a text that somebody shall read."""
        told = (*split_name(self.name), *self.heads, self.kind)
        return any(map(schema_words("written").fullmatch, told))

    @property
    def subjects(self) -> frozenset[str]:
        """The words of its name but for those that say what kind of name or code it is, and for roles."""
        return frozenset(split_name(self.name)) - _CODED - _NAMED - _ROLES

    @property
    def is_money(self) -> bool:
        """Whether it is an amount of money."""
        return bool(schema_words("money").search(self.told))

    def is_what_follows(self, lead: Lead) -> bool:
        """Whether a word leads to what it is: "in" to a place, "by" to who made something, "for" to whom it is for."""
        return bool(schema_words(_FOLLOWS[lead]).search(self.told))

    @property
    def is_several(self) -> bool:
        """Whether its schema says that it tells how many there are."""
        return bool(schema_words("several").search(self.told))

    @property
    def is_for_each(self) -> bool:
        """Whether it may count for each of something."""
        return bool(_EACH & frozenset(split_name(self.name))) or self.is_told_for_each

    @property
    def is_told_for_each(self) -> bool:
        """Whether its schema says that it counts for each of something."""
        return bool(schema_words("each").search(self.told))

    @property
    def is_denying(self) -> bool:
        """Whether it is for what is not wanted."""
        return bool(schema_words("denying").search(self.told))

    @property
    def is_person(self) -> bool:
        """Whether it is who somebody is, and no thing."""
        return any(schema_words(one).search(self.told) for one in ("persons", "served", "makers"))

    @property
    def scale(self) -> int:
        """How many coins it counts as one: 10,000 where it is in tens of thousands."""
        return next((scale for scale, words in _SCALES.items() if schema_words(words).search(self.told)), 1)

    @property
    def is_return(self) -> bool:
        """Whether it is when somebody comes back or leaves, which is not when he goes or comes."""
        return any(map(_RETURN.fullmatch, (*split_name(self.name), "".join(split_name(self.name)))))

    @property
    def is_coded(self) -> bool:
        """Whether it is a number or a code by which something is known."""
        return bool(_CODED & frozenset(split_name(self.name))) or bool(schema_words("codes").search(self.told))

    def unit(self, language: str) -> Unit | None:
        """The unit that it counts in, None where it names none."""
        unit = unit_of(self.name, self.description, language)
        if unit and unit.dimension == "degree":
            unit = unit_of("", self.description, language) or _SCALE.get(split_name(self.name)[-1], unit)
        return unit or self._share

    def each_unit(self, language: str) -> Unit | None:
        """The unit for each of which it counts, None where it names none."""
        tokens, words = split_name(self.name), quantity_words(language)
        named = tokens[tokens.index("per") + 1 :] if "per" in tokens else ()
        told = [unit_of(one, "", language) for one in named[:1]]
        said = words.patterns["each_unit_told"].search(self.description)
        return unit_named(said[1], words) if said else next(iter(told), None)

    @property
    def _share(self) -> Unit | None:
        """What a share is counted in, None where its schema does not say whether 5 % is 5 or 0.05."""
        if self.schema.get("maximum") == 1 or schema_words("fractions").search(self.told):
            return _FRACTION
        return _PERCENT if schema_words("percents").search(self.told) else None

    @property
    def role(self) -> Role:
        """Whether something goes from it or to it."""
        tokens = frozenset(split_name(self.name))
        is_giver, is_taker = bool(tokens & _GIVERS), bool(tokens & _TAKERS)
        if is_giver == is_taker and kind_of(self.schema) in ("text", "enum"):
            is_giver, is_taker = (bool(schema_words(one).search(self.told)) for one in ("givers", "takers"))
        if is_giver == is_taker and kind_of(self.schema) == "text" and not schema_words("times").search(self.told):
            is_giver, is_taker = "start" in tokens, "end" in tokens  # where a way begins and where it ends
        return "" if is_giver == is_taker else "from" if is_giver else "to"

    @property
    def rank(self) -> tuple[str, int]:
        """Its name without its number, and which of that name, or which member of a list, it is: 0 for the only one."""
        if member := re.search(r"\[(\d+)\]$", self.parent):
            return f"{self.parent[: member.start()]} {self.name}", int(member[1]) + 1
        tokens = [one for part in split_name(self.name) for one in re.findall(r"\d+|\D+", part)]
        place = next((at for at, words in enumerate(_RANKS, 1) if words & {*tokens}), 0)
        kept = [one for one in tokens if not place or one not in _RANKS[place - 1]]
        return f"{' '.join(kept)} {self.description}", place  # what tells them apart but for the number

    @property
    def edge(self) -> Edge:
        """Whether it is where something begins or where it ends."""
        tokens = (*split_name(self.name), "".join(split_name(self.name)))
        named = (any(map(_FIRST.fullmatch, tokens)), any(map(_LAST.fullmatch, tokens)))
        described = [bool(schema_words(one).search(self.description)) for one in ("begins", "ends")]
        is_first, is_last = named if named[0] != named[1] else described
        return "" if is_first == is_last else "first" if is_first else "last"


class Leaf(NamedTuple):
    """A value of the call that stands for itself: an argument or a member of one; `path` says where it stands."""

    argument: str
    path: str
    value: JsonValue
    parameter: Parameter
    rivals: tuple[Parameter, ...] = ()  # other parameters of the tool that could take the value
    told: str = ""  # what the tool's schema says of it and of its parameters

    @property
    def sort(self) -> Sort:
        """How a text would state it: by its own form and by what its schema offers."""
        if isinstance(self.value, bool):
            return "boolean"
        if isinstance(self.value, int | float):
            return "number"
        if choices_of(self.parameter.schema):
            return "choice"
        text = str(self.value)
        if sort := next((sort for sort, pattern in _TIMED.items() if pattern.fullmatch(text)), None):
            return sort
        return "code" if re.search(r"\d", text) and (len(text.split()) == 1 or not _LETTER.search(text)) else "name"

    @property
    def naming(self) -> frozenset[str]:
        """The words that name its parameter and none of the rivals."""
        return self.parameter.words - frozenset[str]().union(*(one.words for one in self.rivals))

    @property
    def schema_words(self) -> frozenset[str]:
        """The words by which the tool's schema tells of anything."""
        return _naming("", self.told.replace("_", " "))


def leaves_of(tool: Tool, arguments: Arguments) -> list[Leaf]:
    """The values of a call that stand for themselves, in order, each with the parameters that could take it."""
    wholes = (
        Leaf(name, name, value, Parameter(name, tool.properties.get(name, {}))) for name, value in arguments.items()
    )
    return set_beside([leaf for whole in wholes for leaf in leaves_within(whole)], tool)


def leaves_within(whole: Leaf) -> Iterator[Leaf]:
    """The values of an argument that stand for themselves, in order."""
    schema, value = whole.parameter.schema, whole.value
    if isinstance(value, dict) and value:
        members = schema.get("properties") or {}
        for name, member in value.items():
            parameter = Parameter(name, members.get(name) or {}, whole.path)
            yield from leaves_within(whole._replace(path=f"{whole.path}.{name}", value=member, parameter=parameter))
    elif isinstance(value, list) and value:
        for index, member in enumerate(value):
            items = {"description": schema.get("description", ""), **(schema.get("items") or {})}
            parameter = whole.parameter._replace(schema=items)
            yield from leaves_within(whole._replace(path=f"{whole.path}[{index}]", value=member, parameter=parameter))
    else:
        yield whole


def set_beside(leaves: Sequence[Leaf], tool: Tool) -> list[Leaf]:
    """The same values, each knowing which parameters of the tool could take it as well."""
    stated = [Parameter(name, schema) for name, schema in tool.properties.items()]
    filled = {leaf.parameter.name for leaf in leaves if leaf.sort == "name"}
    inner = [leaf.parameter for leaf in leaves if leaf.parameter.parent]
    for leaf in leaves:
        schema: JsonSchema = tool.properties.get(leaf.argument, {}) if leaf.parameter.parent else {}
        # the members beside it that the schema declares, whether they have a value or not
        for step in re.findall(r"\[\d+\]|\.[^.\[]+", leaf.path.removeprefix(leaf.argument))[:-1]:
            schema = (schema.get("items") if step[0] == "[" else (schema.get("properties") or {}).get(step[1:])) or {}
        within, members = leaf.path.rpartition(".")[0], schema.get("properties") or {}
        inner += [Parameter(name, member or {}, within) for name, member in members.items() if leaf.parameter.parent]
    parameters = list({(one.parent, one.name): one for one in (*stated, *inner)}.values())
    told = " ".join([tool.description, *(f"{one.name} {one.description}" for one in parameters)])
    return [_with_rivals(leaf, parameters, filled)._replace(told=told) for leaf in leaves]


def _with_rivals(leaf: Leaf, parameters: Sequence[Parameter], filled: Collection[str]) -> Leaf:
    own = leaf.parameter
    others = [
        one for one in parameters if (one.parent, one.name) != (own.parent, own.name) and one.name != leaf.argument
    ]
    named = {one for one in filled if leaf.sort == "name" and _is_named(own)}
    rivals = (one for one in others if _could_take(one, leaf) or (one.name in named and _is_named(one)))
    return leaf._replace(rivals=tuple(rivals))


def _could_take(other: Parameter, leaf: Leaf) -> bool:
    """Whether another parameter could take the value of `leaf`: by its type, and for texts by what it is."""
    kind = kind_of(other.schema)
    if leaf.sort == "boolean":
        return False
    if leaf.sort == "number":
        is_number = kind in ("integer", "number") and fits(leaf.value, other.schema)
        return is_number and _same_measure(leaf.parameter, other)
    if leaf.sort in _TIMED:
        is_time = kind == _KINDS[leaf.sort] or (kind == "text" and is_timed(other))
        is_told = kind == "text" and _last_word(leaf.parameter) in _DAYS_AND_TIMES
        if is_told and _last_word(other) in _OTHER_TIMES[leaf.sort]:
            return False
        # people and golds leave out the seconds and the zone that a format asks for
        loose: JsonSchema = {name: rule for name, rule in other.schema.items() if name != "format"}
        return is_time and fits(leaf.value, loose)
    return _could_take_text(other, leaf)


def _could_take_text(other: Parameter, leaf: Leaf) -> bool:
    kind, own = kind_of(other.schema), leaf.parameter
    schema = other.schema if kind != "array" else other.schema.get("items") or {}
    if kind not in ("text", "enum", "array") or not fits(leaf.value, schema):
        return False
    if kind == "enum" or leaf.sort == "choice" or is_timed(other):
        return kind == "enum"  # its own choices tell a choice from a text
    tokens = (frozenset(split_name(own.name)), frozenset(split_name(other.name)))
    return bool(own.heads & other.heads) or any(all(one & words for one in tokens) for words in (_ROLES, _CODED))


def _is_named(one: Parameter) -> bool:
    """Whether it is the name of something: names of two things look alike."""
    return bool(_NAMED & frozenset(split_name(one.name))) or bool(schema_words("named").search(one.description))


def _same_measure(one: Parameter, other: Parameter) -> bool:
    units = [each.unit(DEFAULT_LANGUAGE) for each in (one, other)]
    dimensions = [
        "money" if each.is_money and unit is None else unit.dimension if unit else ""
        for each, unit in zip((one, other), units, strict=True)
    ]
    return dimensions[0] == dimensions[1] or "" in dimensions


def is_timed(one: Parameter) -> bool:
    """Whether it is a day or a time, by its type or by its name."""
    kind, last = kind_of(one.schema), _last_word(one)
    is_named = last in ("date", "time", "day", "month", "when", "start", "end")
    return kind in ("date", "time", "date-time") or is_named or bool(_TIME_FORM.search(one.description))


def _last_word(one: Parameter) -> str:
    return (split_name(one.name) or ("",))[-1]


def spellings(word: str) -> frozenset[str]:
    """A word as names are compared: as it is, and without its endings."""
    return frozenset({word, deep_stem(word)})


@lru_cache(4096)
def _naming(name: str, description: str) -> frozenset[str]:
    tokens = split_name(name)
    described = [word.text for word in words_of(description).row]
    skipped = empty(packs_of(description))
    kept = [*tokens, *(word for word in described if word not in skipped | _ROLES | _EDGES and word.isalnum())]
    return frozenset({*kept, *map(deep_stem, kept)})


@lru_cache(4096)
def _heads(name: str, description: str) -> frozenset[str]:
    tokens = [one for one in split_name(name) if one not in _ROLES | _EDGES | _NAMED and one.isalpha()]
    heads = {deep_stem(tokens[-1])} if tokens else set[str]()
    phrase = re.sub(rf"(?:{schema_words('named').pattern})$", "", _HEAD_END.split(f"{description.strip()} ")[0].strip())
    if phrase:
        spaced = puts_spaces(packs_of(phrase)[0].code) or phrase.isascii()
        words = [one.text for one in words_of(phrase).row if one.text.isalpha() and one.text not in _NAMED]
        heads |= {deep_stem(words[-1])} if spaced and words else {fold(phrase)[-_SIGNS:]} if not spaced else set()
    return frozenset(heads)
