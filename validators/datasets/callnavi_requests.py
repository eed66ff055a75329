"""Faults in the values of CallNavi's gold answers: what a request states and what a tool declares, against what is given."""

import re
from calendar import month_name
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.dates import find_dates
from callwright.language.packs import packaged
from callwright.language.text import fold
from callwright.language.values import locate
from callwright.validators.metrics.callnavi.matching import UNKNOWN
from callwright.validators.metrics.callnavi.scores import GoldQuestion
from callwright.warehouse.records import JsonSchema


class RequestFault(NamedTuple):
    """A fault: its kind, where it is, and a sentence. `question`, `tool` and `parameter` are empty where none is meant."""

    kind: str
    domain: str
    question: str
    message: str
    tool: str = ""
    parameter: str = ""


_PACKAGE, _FILE = "callwright.validators.datasets", "callnavi.yaml"
_CODE = r"(?=[\w-]*\d)\w[\w-]*"
_MEANS = r"(VISA|MasterCard|Mastercard|AMEX|American Express|[Pp]ay[Pp]al|[Cc]redit [Cc]ard|[Dd]ebit [Cc]ard|[Cc]ash)\b"
_PLACE = r"([A-Z]\w*(?: [A-Z]\w*)*)"
_DATES = re.compile(r"\bdate\b")
_DATE_WORDS = re.compile(r"\b(?:birth|expiry|deadline)\b")
_TEXTUAL = re.compile(r"\b(?:query|title|type|reason|comments?|description|name|review|text|message|subject)$")
_QUOTED = re.compile(r"'([^'$]+)'(?!\w)|\"([^\"$]+)\"")
_ENDS = ("end ", "return ", "to ", "check out", "checkout")  # the second of two dates is meant
_IDENTIFIED = re.compile(r"^(?P<head>[\w ]+?) (?P<kind>id|number|code)$")


def fault_kinds() -> dict[str, str]:
    """What each kind of fault means, in the order in which they are listed."""
    kinds: dict[str, str] = packaged(_PACKAGE, _FILE)["kinds"]
    return kinds


@cache
def _known() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """How a parameter's folded name, and its value in a request, look."""
    rows = packaged(_PACKAGE, _FILE)["stated"]
    filled = [(name, value.replace("@place", _PLACE).replace("@means", _MEANS)) for name, value in rows]
    return [(re.compile(name), re.compile(value, re.IGNORECASE if value.islower() else 0)) for name, value in filled]


def find_stated(parameter: str, request: str, stated: Sequence[str]) -> str:
    """The words of a request that state a parameter's value, empty where none does.

    `stated` are the values that the answer gives already: no second parameter is meant by them.
    """
    name = fold(parameter)
    place = int(_DATES.search(name) is not None and name.startswith(_ENDS))
    taken = {fold(value) for value in stated}
    found = [words for words in dict.fromkeys(_stated(name, request)) if fold(words) not in taken]
    return found[place] if place < len(found) else ""


def _stated(name: str, request: str) -> Iterator[str]:
    if _DATES.search(name) or _DATE_WORDS.search(name):
        yield from (request[found.start : found.end] for found in find_dates(request))
        return
    for pattern, spoken in _known():
        if pattern.search(name):
            yield from _groups(spoken, request)
    if identified := _IDENTIFIED.search(name):
        yield from _groups(_after(identified["head"], identified["kind"]), request)
    if _TEXTUAL.search(name):
        yield from _groups(_QUOTED, request)


def _after(head: str, kind: str) -> re.Pattern[str]:
    """A code that stands right behind what it identifies, as in "order ID 77" for `orderId`."""
    word = re.escape(head.rsplit(maxsplit=1)[-1])
    return re.compile(rf"\b{word}\b(?:\s+(?:{kind}|no\.?))?(?:\s+(?:is|with|:))?\s*[(:#]?\s*({_CODE})", re.IGNORECASE)


def _groups(pattern: re.Pattern[str], request: str) -> Iterator[str]:
    for match in pattern.finditer(request):
        yield next(group for group in match.groups() if group)


_MONTH = re.compile(r"\d{4}-\d{2}(?:-\d{2})?$")
_MONTH_STATED = re.compile(rf"\b(?:{'|'.join(month_name[1:])}) \d{{4}}\b")
_GENDER_STATED = re.compile(r"\b(?:man|woman|male|female)\b", re.IGNORECASE)
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def leaves(value: JsonValue, path: str, schema: JsonSchema) -> Iterator[tuple[str, JsonValue, JsonSchema]]:
    """The values inside a value, each with its path and the schema that is declared for it."""
    if isinstance(value, dict) and value:
        members = schema.get("properties") or {}
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}" if path else name, members.get(name) or {})
    elif isinstance(value, list) and value:
        for member in value:
            yield from leaves(member, path, schema.get("items") or {})
    else:
        yield path, value, schema


def check_values(question: GoldQuestion, at: int, schema: JsonSchema) -> Iterator[RequestFault]:
    """What is wrong with the values of one call of a gold answer; `schema` is what its tool declares."""
    parameters, tool = question.gold.parameters[at], question.gold.names[at]
    stated = [str(value) for one in question.gold.parameters for _, value, _ in leaves(one, "", {}) if value != UNKNOWN]
    for path, value, declared in leaves(parameters, "", schema):
        for fault in (_judge(question, at, path, value, stated), _mistyped(path, value, declared)):
            if fault is not None:
                yield RequestFault(fault[0], question.domain, question.id, fault[1], tool, path)
    for name, value in parameters.items():
        declared = (schema.get("properties") or {}).get(name) or {}
        if isinstance(value, dict | list) and value and (wrong := _mistyped(name, value, declared)):
            yield RequestFault(wrong[0], question.domain, question.id, wrong[1], tool, name)


def _judge(question: GoldQuestion, at: int, path: str, value: JsonValue, stated: list[str]) -> tuple[str, str] | None:
    name, request = path.rpartition(".")[2], question.request
    if value == UNKNOWN:
        if spoken := find_stated(name, request, stated):
            return "needless_placeholder", f"{path!r} is {UNKNOWN}, and the request says {spoken!r}."
        if at == 0:
            return (
                "placeholder_without_source",
                f"{path!r} is {UNKNOWN} in the first call; our rules find no value in the request.",
            )
        return None
    if value == {} and path:
        return "accepts_anything", f"{path!r} is an empty object: the published scoring takes any value for it."
    if path and not isinstance(value, dict | list) and not is_stated(value, name, request):
        return "invented_value", f"{path!r} is {value!r}, which the request does not state."
    return None


def is_stated(value: JsonValue, name: str, request: str) -> bool:
    """Whether a request states a value, in whatever notation."""
    schema: JsonSchema = {"title": name}
    if isinstance(value, str) and (_MONTH.match(value) and _MONTH_STATED.search(request)):
        return True  # worked out of a month that is stated
    if name.lower() == "gender" and _GENDER_STATED.search(request):
        return True
    if isinstance(value, str) and value.replace(".", "", 1).isdigit() and len(value) < len("1000000"):
        number = float(value)  # amounts are given as text here, with and without a point
        return bool(locate(value, schema, request) or locate(number, schema, request))
    return locate(value, schema, request) is not None


def _mistyped(path: str, value: JsonValue, declared: Mapping[str, JsonValue]) -> tuple[str, str] | None:
    if value == UNKNOWN:
        return None
    choices, kind = declared.get("enum"), declared.get("type")
    if isinstance(choices, list) and isinstance(value, str):
        if value.lower() not in {str(choice).lower() for choice in choices}:
            return "not_a_choice", f"{path!r} is {value!r}; declared are {', '.join(map(str, choices))}."
        return None
    wanted = _TYPES.get(str(kind))
    if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)):
        return "wrong_type", f"{path!r} is {value!r}, which is no {kind} as declared."
    return None
