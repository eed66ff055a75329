"""Whether a value is one of the accepted ones, as BFCL compares texts, lists and dictionaries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_DROPPED = re.compile(r"[ ,./\-_*^]")
OPTIONAL = ""  # among accepted values: the parameter may be left out

STRING = "value_error:string"
LISTED = "value_error:list/tuple"
MEMBER_NAME = "value_error:dict_key"
MEMBER_VALUE = "value_error:dict_value"
LENGTH = "value_error:list_dict_count"
OTHER = "value_error:others"
NO_OBJECT = "dict_checker:unclear"
NO_OBJECTS = "list_dict_checker:unclear"


class UnreadableAnswerError(Exception):
    """An accepted value has a form that can't be compared; the official checker crashes on it. Never leaves the checks."""


def standard(value: Any) -> Any:  # noqa: ANN401 - any value; only texts are changed
    """A text without space, some punctuation, and case, its apostrophes as quotation marks."""
    return _DROPPED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value


def is_string_accepted(value: str, accepted: Iterable[Any]) -> bool:
    """Whether a text is one of those accepted."""
    return standard(value) in [standard(one) for one in accepted if isinstance(one, str)]


def is_list_accepted(value: list[Any], accepted: list[Any]) -> bool:
    """Whether a list is one of those accepted, in its order."""
    return [standard(one) for one in value] in [[standard(one) for one in _members(other)] for other in accepted]


def judge_object(value: Any, accepted: list[Any]) -> str:  # noqa: ANN401 - what was given, of any type
    """What is wrong with a dictionary: the trouble with the last accepted one, empty where one fits."""
    trouble = NO_OBJECT
    for one in accepted:
        if one == OPTIONAL:
            continue
        trouble = _judge_members(_object(value), _object(one))
        if not trouble:
            return ""
    return trouble


def judge_objects(value: list[Any], accepted: list[Any]) -> str:
    """What is wrong with a list of dictionaries, whose order counts; empty where one of those accepted fits."""
    trouble = NO_OBJECTS
    for one in accepted:
        if len(value) != len(one if isinstance(one, dict) else _members(one)):
            trouble = LENGTH
            continue
        found = (judge_object(given, [wanted]) for given, wanted in zip(value, _members(one), strict=True))
        trouble = next(filter(None, found), "")
        if not trouble:
            return ""
    return trouble


def _judge_members(value: dict[Any, Any], accepted: dict[Any, Any]) -> str:
    trouble = ""
    for name, given in value.items():
        if name not in accepted:
            trouble = MEMBER_NAME
            break
        if standard(given) not in [standard(one) for one in _members(accepted[name])]:
            trouble = MEMBER_VALUE
            break
    # every text has the empty one in it: a member that is not wrapped as a list may officially be left out
    missing = any(name not in value and not _may_be_left_out(wanted) for name, wanted in accepted.items())
    return MEMBER_NAME if missing else trouble


def _may_be_left_out(accepted: Any) -> bool:  # noqa: ANN401 - a list, or what is taken for one
    return OPTIONAL in (accepted if isinstance(accepted, dict) else _members(accepted))


def _members(value: Any) -> Any:  # noqa: ANN401 - a list, or what the official checker takes for one
    if isinstance(value, list | tuple | str) or value == {}:
        return value
    raise UnreadableAnswerError(f"{value!r} is no list of accepted values")


def _object(value: Any) -> dict[Any, Any]:  # noqa: ANN401 - what should be a dictionary
    if not isinstance(value, dict):
        raise UnreadableAnswerError(f"{value!r} is no object")
    return value
