"""BFCL's AST check, which CONFETTI extends: whether calls are the accepted ones, parameter by parameter (CONFETTI 4.1)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from callwright.validators.metrics.confetti.decoding import DecodedCall

Document = Mapping[str, Any]
Answer = Mapping[str, Mapping[str, Any]]


TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
NESTED = ("array", "tuple")


class Check(NamedTuple):
    """A verdict on a call: right, or wrong in the way that `error_type` names, with the reason as a sentence.

    `is_variable` tells that a value passed, or was looked at, as the name of a variable.
    """

    valid: bool
    error_type: str = ""
    reason: str = ""
    is_variable: bool = False


RIGHT = Check(valid=True)
UNREADABLE = "unreadable_answer"  # ours: where the official checker crashes


def check_calls(
    documents: Sequence[Document], made: Sequence[DecodedCall], answers: Sequence[Answer], category: str
) -> Check:
    """Whether the calls are those accepted. `category` tells, as a BFCL category does, how many there may be."""
    try:
        if "parallel" in category:
            return _check_parallel(documents, made, answers)
        kind = "multiple" if "multiple" in category else "simple"
        due = len(answers) if kind == "multiple" else 1
        if len(made) != due:
            wrong = f"There are {len(made)} calls for {due}."
            return Check(valid=False, error_type=f"{kind}_function_checker:wrong_count", reason=wrong)
        document = _document(documents, answers[0]) if kind == "multiple" else documents[0]
        return check_call(document, made[0], answers[0])
    except (UnreadableAnswerError, IndexError, StopIteration) as error:
        return Check(valid=False, error_type=UNREADABLE, reason=f"The answer can't be compared: {error}.")


def _check_parallel(documents: Sequence[Document], made: Sequence[DecodedCall], answers: Sequence[Answer]) -> Check:
    """Each answer takes the first call that fits and is left; none is given back."""
    if len(made) != len(answers):
        wrong = f"There are {len(made)} calls for {len(answers)}."
        return Check(valid=False, error_type="parallel_function_checker_no_order:wrong_count", reason=wrong)
    left = list(made)
    for answer in answers:
        document, reasons = _document(documents, answer), []
        for at, call in enumerate(left):
            check = check_call(document, call, answer)
            if check.valid:
                del left[at]
                break
            reasons.append(check.reason)
        else:
            reason = f"No call fits {next(iter(answer))!r}: {' '.join(reasons)}"
            name = "parallel_function_checker_no_order:cannot_find_match"
            return Check(valid=False, error_type=name, reason=reason)
    return RIGHT


def _document(documents: Sequence[Document], answer: Answer) -> Document:
    name = next(iter(answer))
    found = next((one for one in documents if one.get("name") == name), None)
    if found is None:
        raise UnreadableAnswerError(f"there is no tool {name!r}")
    return found


def check_call(document: Document, made: DecodedCall, answer: Answer) -> Check:
    """Whether one call is the accepted one: name, required parameters, each value, and what may not be left out."""
    accepted = next(iter(answer.values()))
    name, declared = document.get("name"), document.get("parameters") or {}
    if made.name != name:
        return _wrong("wrong_func_name", f"The call is to {made.name!r}, not to {name!r}.")
    for parameter in declared.get("required") or []:
        if parameter not in made.arguments:
            return _wrong("missing_required", f"The required {parameter!r} is missing.")
    check = _check_values(made, accepted, declared.get("properties") or {})
    if not check.valid:
        return check
    for parameter, wanted in accepted.items():
        if parameter not in made.arguments and OPTIONAL not in _listed(wanted):
            return _wrong("missing_optional", f"{parameter!r} is missing, and may not be left out.")
    return check


def _check_values(made: DecodedCall, accepted: Mapping[str, Any], properties: Mapping[str, Document]) -> Check:
    variable = False
    for parameter, value in made.arguments.items():
        if parameter not in properties or parameter not in accepted:
            return _wrong("unexpected_param", f"{parameter!r} is not expected.")
        check = check_value(parameter, value, accepted[parameter], properties[parameter])
        if not check.valid:
            return check
        variable = variable or check.is_variable
    return Check(valid=True, is_variable=variable)


def check_value(parameter: str, value: object, accepted: object, declared: Document) -> Check:
    """Whether a value has its type and is one of the accepted ones. Raises UnreadableAnswerError where none can tell."""
    kind = _type(declared.get("type"))
    nested = _type((declared.get("items") or {}).get("type")) if declared.get("type") in NESTED else None
    if declared.get("type") == "float" and type(value) is int:
        value = float(value)
    if declared.get("type") == "tuple" and isinstance(value, tuple):
        value = list(value)
    wanted = _listed(accepted)
    check = _check_type(value, wanted, kind, nested)
    if not check.valid:
        return check._replace(reason=f"{parameter!r} is {value!r}, which is no {declared.get('type')}.")
    trouble = _judge(value, wanted, kind, nested) if not check.is_variable else _judge_plain(value, wanted)
    if trouble:
        reason = f"{parameter!r} is {value!r}; accepted are {list(wanted)!r}."
        return Check(valid=False, error_type=trouble, reason=reason, is_variable=check.is_variable)
    return check


def _judge(value: Any, accepted: Any, kind: type, nested: type | None) -> str:  # noqa: ANN401 - of the type that kind names
    if kind is dict:
        return judge_object(value, accepted)
    if kind is list and nested is dict:
        return judge_objects(value, accepted)
    if kind is str:
        return "" if is_string_accepted(value, accepted) else STRING
    if kind is list:
        return "" if is_list_accepted(value, accepted) else LISTED
    return _judge_plain(value, accepted)


def _judge_plain(value: object, accepted: Any) -> str:  # noqa: ANN401 - a list, or what is taken for one
    return "" if value in accepted else OTHER


def _check_type(value: object, accepted: Any, kind: type, nested: type | None) -> Check:  # noqa: ANN401 - see above
    given = next((type(one) for one in accepted if one != OPTIONAL), None)
    if type(value) is kind and (nested is None or any(_is_nested_right(value, one, nested) for one in accepted)):
        return Check(valid=True, is_variable=given is not None and given is not kind)
    if given is None or type(value) is not given:
        return Check(valid=False, error_type="type_error:simple")
    if type(value) is kind:
        return Check(valid=False, error_type="type_error:nested", is_variable=True)
    return Check(valid=True, is_variable=True)


def _is_nested_right(value: Any, accepted: object, nested: type) -> bool:  # noqa: ANN401 - a list, known by its type before
    if type(accepted) is not list:
        return True
    return all(_check_type(one, accepted, nested, None).valid for one in value)


def _type(name: object) -> type:
    kind = TYPES.get(str(name))
    if kind is None:
        raise UnreadableAnswerError(f"there is no type {name!r}; the types are {', '.join(TYPES)}")
    return kind


def _listed(accepted: object) -> Any:  # noqa: ANN401 - a list, or what the official checker takes for one
    if not isinstance(accepted, list | tuple | str | dict):
        raise UnreadableAnswerError(f"{accepted!r} is no list of accepted values")
    return accepted


def _wrong(kind: str, reason: str) -> Check:
    return Check(valid=False, error_type=f"simple_function_checker:{kind}", reason=reason)


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
