"""BFCL's part of CONFETTI: calls as Python text, never executed, and an extended value check.

The text is read as a syntax tree. A value is right if it is one of those accepted, as BFCL's AST
check compares them (CONFETTI 4.1).
"""

import ast
import keyword
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from callwright.llm.written_calls import python_tree

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
OPTIONAL = ""  # among accepted values: the parameter may be left out
STRING = "value_error:string"
LISTED = "value_error:list/tuple"
MEMBER_NAME = "value_error:dict_key"
MEMBER_VALUE = "value_error:dict_value"
LENGTH = "value_error:list_dict_count"
OTHER = "value_error:others"
NO_OBJECT = "dict_checker:unclear"
NO_OBJECTS = "list_dict_checker:unclear"
LONGEST = 100_000
_LARGEST = 10**15
_WIDEST = 10_000
_MARK = "_ǂ"
_RESERVED = re.compile(rf"(?<=[(,\s])({'|'.join(keyword.kwlist)})(?=\s*=[^=])")
_DROPPED = re.compile(r"[ ,./\-_*^]")
_REACHED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class DecodedCall(NamedTuple):
    """A call as made, with Python values; a bare word is a text."""

    name: str
    arguments: dict[str, Any]


class Decoded(NamedTuple):
    """The calls of a reply, None if it can't be read; `problem` is a sentence that says why."""

    calls: list[DecodedCall] | None
    problem: str = ""


def decode_calls(text: str, *, any_name: bool = False) -> Decoded:
    """Return the calls of a reply; positional arguments are lost, as in the official code.

    Python, and so the official code, cannot read a parameter named `class` or `from`. With
    `any_name` it is read nevertheless.
    """
    decoded = _decode(text)
    if any_name and decoded.calls is None and _RESERVED.search(text):
        return _decode(_RESERVED.sub(rf"\1{_MARK}", text))
    return decoded


def _decode(text: str) -> Decoded:
    stripped = text.strip("`\n ")
    if len(stripped) > LONGEST:
        return Decoded(None, f"The reply has {len(stripped)} characters; up to {LONGEST} are read.")
    bracketed = f"{'' if stripped.startswith('[') else '['}{stripped}{'' if stripped.endswith(']') else ']'}"  # noqa: E501
    try:
        body = python_tree(bracketed)
        for node in ast.walk(body):  # names and texts as they were written
            if isinstance(node, ast.keyword) and node.arg is not None:
                node.arg = node.arg.removesuffix(_MARK)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                node.value = node.value.replace(_MARK, "")
        return Decoded(
            [_call(member) for member in (body.elts if isinstance(body, ast.List) else [body])]
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Decoded(None, f"The reply is not a list of calls: {error}.")


def _call(node: ast.expr) -> DecodedCall:
    if not isinstance(node, ast.Call):
        raise ValueError(f"{ast.unparse(node)!r} is no call")
    named = {word.arg: _value(word.value) for word in node.keywords if word.arg is not None}
    if len(named) < len(node.keywords):
        raise ValueError(f"{ast.unparse(node)!r} spreads its arguments, or gives one twice")
    parts: list[str] = []
    named_by = node.func
    while isinstance(named_by, ast.Attribute):
        parts.insert(0, named_by.attr)
        named_by = named_by.value
    if isinstance(named_by, ast.Name):
        parts.insert(0, named_by.id)
    return DecodedCall(".".join(parts), named)


def _value(node: ast.expr) -> Any:  # noqa: ANN401 - whatever Python can write down
    match node:
        case ast.Constant(value=value):
            return "..." if value is ... else value
        case ast.UnaryOp() | ast.BinOp():
            return _figure(node)
        case ast.List(elts=members):
            return [_value(member) for member in members]
        case ast.Tuple(elts=members):
            return tuple(_value(member) for member in members)
        case ast.Dict(keys=names, values=values) if None not in names:
            return {
                _key(name): _value(value)
                for name, value in zip(names, values, strict=True)
                if name is not None
            }
        case ast.Name(id=word):
            return word
        case ast.Call(keywords=[_, *_]):
            inner = _call(node)
            return {inner.name: inner.arguments}
        case ast.Call() | ast.Subscript():  # the words of a call that gives nothing by name
            return ast.unparse(node)
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no plain value")


def _key(node: ast.expr) -> Any:  # noqa: ANN401 - whatever Python takes for a key
    key = _value(node)
    if isinstance(key, list | dict):
        raise ValueError(f"{ast.unparse(node)!r} is no member's name")
    return key


def _figure(node: ast.expr) -> Any:  # noqa: ANN401 - a number or a text
    """Evaluate arithmetic on plain numbers; join texts.

    Nothing is executed.
    """
    match node:
        case ast.Constant(value=int() | float() | str() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.UnaryOp(op=ast.UAdd(), operand=ast.Constant(value=int() | float() as value)):
            return value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _REACHED:
            left_value, right_value = _figure(left), _figure(right)
            if (
                isinstance(left_value, str)
                and isinstance(right_value, str)
                and isinstance(op, ast.Add)
            ):
                return left_value + right_value
            try:
                return _number(
                    _REACHED[type(op)](_number(left_value, node), _number(right_value, node)), node
                )
            except (ZeroDivisionError, OverflowError) as error:
                raise ValueError(f"{ast.unparse(node)!r} has no value: {error}") from error
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no plain value")


def _number(value: Any, node: ast.expr) -> Any:  # noqa: ANN401 - a number goes in and comes out
    if isinstance(value, str) or abs(value) > _LARGEST:
        raise ValueError(f"{ast.unparse(node)[:_WIDEST]!r} is no number that a call needs")
    return value


class CallVerdict(NamedTuple):
    """A verdict on a call: right, or wrong as `error_type` names it, with a reason.

    `is_variable` says that a value passed, or was looked at, as the name of a variable.
    """

    valid: bool
    error_type: str = ""
    reason: str = ""
    is_variable: bool = False


def check_value(parameter: str, value: object, accepted: object, declared: Document) -> CallVerdict:
    """Check whether a value has its type and is one of the accepted ones.

    Raises UnreadableAnswerError if that cannot be decided.
    """
    kind = _type(declared.get("type"))
    nested = (
        _type((declared.get("items") or {}).get("type")) if declared.get("type") in NESTED else None
    )
    if declared.get("type") == "float" and type(value) is int:
        value = float(value)
    if declared.get("type") == "tuple" and isinstance(value, tuple):
        value = list(value)
    wanted = listed(accepted)
    check = _check_type(value, wanted, kind, nested)
    if not check.valid:
        return check._replace(
            reason=f"{parameter!r} is {value!r}, which is no {declared.get('type')}."
        )
    # what is no literal is compared as it is
    trouble = _judge(value, wanted, object if check.is_variable else kind, nested)
    if trouble:
        reason = f"{parameter!r} is {value!r}; accepted are {list(wanted)!r}."
        return CallVerdict(
            valid=False, error_type=trouble, reason=reason, is_variable=check.is_variable
        )
    return check


def _judge(value: Any, accepted: Any, kind: type, nested: type | None) -> str:  # noqa: ANN401 - of the type that kind names
    if kind is dict:
        return judge_object(value, accepted)
    if kind is list and nested is dict:
        return judge_objects(value, accepted)
    if kind is str:
        return "" if is_string_accepted(value, accepted) else STRING
    if kind is list:
        is_accepted = [standard(one) for one in value] in [
            [standard(one) for one in _members(other)] for other in accepted
        ]
        return "" if is_accepted else LISTED
    return "" if value in accepted else OTHER


def _check_type(value: object, accepted: Any, kind: type, nested: type | None) -> CallVerdict:  # noqa: ANN401 - see above
    accepted_type = next((type(one) for one in accepted if one != OPTIONAL), None)
    if type(value) is kind and (
        nested is None or any(_is_nested_right(value, one, nested) for one in accepted)
    ):
        return CallVerdict(
            valid=True, is_variable=accepted_type is not None and accepted_type is not kind
        )
    if accepted_type is None or type(value) is not accepted_type:
        return CallVerdict(valid=False, error_type="type_error:simple")
    if type(value) is kind:
        return CallVerdict(valid=False, error_type="type_error:nested", is_variable=True)
    return CallVerdict(valid=True, is_variable=True)


def _is_nested_right(value: Any, accepted: object, nested: type) -> bool:  # noqa: ANN401 - a list, known by its type before
    return type(accepted) is not list or all(
        _check_type(one, accepted, nested, None).valid for one in value
    )


def _type(name: object) -> type:
    kind = TYPES.get(str(name))
    if kind is None:
        raise UnreadableAnswerError(f"there is no type {name!r}; the types are {', '.join(TYPES)}")
    return kind


def listed(accepted: object) -> Any:  # noqa: ANN401 - a list, or what the official checker takes for one
    """Return the accepted values. Raise UnreadableAnswerError if this is not a collection."""
    if not isinstance(accepted, list | tuple | str | dict):
        raise UnreadableAnswerError(f"{accepted!r} is no list of accepted values")
    return accepted


class UnreadableAnswerError(Exception):
    """An accepted value has a form that cannot be compared and crashes the official checker.

    Never leaves the checks.
    """


def standard(value: Any) -> Any:  # noqa: ANN401 - any value; only texts are changed
    """Return a text without spaces, case and some punctuation, with ' changed to "."""
    return _DROPPED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value


def is_string_accepted(value: str, accepted: Iterable[Any]) -> bool:
    """Whether a text is one of the accepted ones."""
    return standard(value) in [standard(one) for one in accepted if isinstance(one, str)]


def judge_object(value: Any, accepted: list[Any]) -> str:  # noqa: ANN401 - what was given, of any type
    """Return what is wrong with a dictionary, by the last accepted one; "" if one fits."""
    trouble = NO_OBJECT
    for one in accepted:
        if one == OPTIONAL:
            continue
        trouble = _judge_members(_object(value), _object(one))
        if not trouble:
            return ""
    return trouble


def judge_objects(value: list[Any], accepted: list[Any]) -> str:
    """Return what is wrong with a list of dictionaries, whose order counts; "" if one fits."""
    trouble = NO_OBJECTS
    for option in accepted:
        if len(value) != len(option if isinstance(option, dict) else _members(option)):
            trouble = LENGTH
            continue
        problems = (
            judge_object(given, [wanted])
            for given, wanted in zip(value, _members(option), strict=True)
        )
        trouble = next(filter(None, problems), "")
        if not trouble:
            return ""
    return trouble


def _judge_members(value: dict[Any, Any], accepted: dict[Any, Any]) -> str:
    trouble = ""
    for name, member in value.items():
        if name not in accepted:
            trouble = MEMBER_NAME
            break
        if standard(member) not in [standard(one) for one in _members(accepted[name])]:
            trouble = MEMBER_VALUE
            break
    # every text has the empty one in it: a member that is not wrapped as a list may officially be
    # left out
    missing = any(
        OPTIONAL not in (wanted if isinstance(wanted, dict) else _members(wanted))
        for name, wanted in accepted.items()
        if name not in value
    )
    return MEMBER_NAME if missing else trouble


def _members(value: Any) -> Any:  # noqa: ANN401 - a list, or what the official checker takes for one
    if isinstance(value, list | tuple | str) or value == {}:
        return value
    raise UnreadableAnswerError(f"{value!r} is no list of accepted values")


def _object(value: Any) -> dict[Any, Any]:  # noqa: ANN401 - what should be a dictionary
    if not isinstance(value, dict):
        raise UnreadableAnswerError(f"{value!r} is no object")
    return value
