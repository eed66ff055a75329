"""The values that CallNavi's gold answers give: placeholders, types, choices, and whether the request states them."""

from __future__ import annotations

import re
from calendar import month_name
from typing import TYPE_CHECKING

from language.values import locate
from validators.datasets.callnavi_findings import Finding
from validators.datasets.callnavi_requests import find_said
from validators.metrics.callnavi.matching import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

    from validators.metrics.callnavi.scores import Question
    from warehouse.records import JsonSchema

_MONTH = re.compile(r"\d{4}-\d{2}(?:-\d{2})?$")
_MONTH_SAID = re.compile(rf"\b(?:{'|'.join(month_name[1:])}) \d{{4}}\b")
_GENDER_SAID = re.compile(r"\b(?:man|woman|male|female)\b", re.IGNORECASE)
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


def check_values(question: Question, at: int, schema: JsonSchema) -> Iterator[Finding]:
    """What is wrong with the values of one call of a gold answer; `schema` is what its tool declares."""
    parameters, tool = question.gold.parameters[at], question.gold.names[at]
    stated = [str(value) for one in question.gold.parameters for _, value, _ in leaves(one, "", {}) if value != UNKNOWN]
    for path, value, declared in leaves(parameters, "", schema):
        for fault in (_judge(question, at, path, value, stated), _mistyped(path, value, declared)):
            if fault is not None:
                yield Finding(fault[0], question.domain, question.id, fault[1], tool, path)
    for name, value in parameters.items():
        declared = (schema.get("properties") or {}).get(name) or {}
        if isinstance(value, dict | list) and value and (wrong := _mistyped(name, value, declared)):
            yield Finding(wrong[0], question.domain, question.id, wrong[1], tool, name)


def _judge(question: Question, at: int, path: str, value: JsonValue, stated: list[str]) -> tuple[str, str] | None:
    name, request = path.rpartition(".")[2], question.request
    if value == UNKNOWN:
        if said := find_said(name, request, stated):
            return "needless_placeholder", f"{path!r} is {UNKNOWN}, and the request says {said!r}."
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
    if isinstance(value, str) and (_MONTH.match(value) and _MONTH_SAID.search(request)):
        return True  # worked out of a month that is said
    if name.lower() == "gender" and _GENDER_SAID.search(request):
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
