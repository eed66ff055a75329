"""A model's reply, read as the answer it was asked for, or rejected.

It is read tolerantly where nothing can be misread: one JSON object may have words, fences and a
train of thought around it, may be in Python's notation (including a trailing comma), and may
have a whole number written "3" or 3.0. Two objects that differ, a key with two values, and an
object within something else are no answer.

Bounds are applied before anything recursive or quadratic reads a reply. A reply beyond a bound
raises a ReplyError that says which one. The ledger keeps it all the same, so asking again costs
nothing, and its record becomes a failure that later builds skip.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from callwright.llm.chat import Answer
from callwright.llm.written_calls import after_thought, value_at
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.json_text import REPLY_DECODER
from callwright.warehouse.records import Call

SHOWN = 200
_PROBLEMS = 3
_MENDS = 3  # rounds: a mended member may bring the next one to light
_SIGN = re.compile(r"[{}\[\]]")
_SLOT = re.compile(r"\{\w+\}")  # {name}, as prose has it: no JSON
_WHOLE = re.compile(r"[+-]?\d{1,18}(?:\.0+)?")
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,18})?")


def parse_answer(text: str, answer: type[Answer], *, is_cut: bool = False) -> Answer:
    """Return a reply parsed as `answer`. Raises ReplyError.

    If the reply `is_cut` off, its complete part is parsed; if `answer` needs more than that,
    parsing fails.
    """
    try:
        return _read(text, answer, is_cut=is_cut)
    except (ValueError, ReplyError) as error:
        problem = _problems(error) if isinstance(error, ValidationError) else str(error).rstrip(".")
        cut = ""
        if is_cut:
            cut = "The reply was cut off at its longest (finish_reason length); raise max_tokens. "
        raise ReplyError(
            f"{cut}The reply is not a {answer.__name__}: {problem}. It begins: {text[:SHOWN]!r}"
        ) from error


def _read(text: str, answer: type[Answer], *, is_cut: bool) -> Answer:
    try:
        return _validated(read_object(text), answer)
    except (ValueError, ReplyError):
        if not is_cut:
            raise
    begins = _after_thought(text).find("{")
    partial = from_json(
        _after_thought(text)[max(begins, 0) :].encode(errors="replace"), allow_partial=True
    )
    return _whole_part(partial, answer)


def read_object(text: str) -> dict[str, Any]:
    """Return the one JSON object of a reply.

    Raises ReplyError if there is none, or if there are several that differ.
    """
    validate_text(text)
    documents: list[dict[str, Any]] = [*_objects(_after_thought(text))]
    if not documents:
        raise ReplyError("the whole: Invalid JSON: there is no object in it")
    if len(documents) > 1 and len({json.dumps(value, sort_keys=True) for value in documents}) > 1:
        raise ReplyError("it has several JSON objects, and they differ")
    return documents[-1]


def _objects(text: str) -> Iterator[Any]:
    """Yield the top-level objects in a text."""
    at, around = 0, 0
    while (sign := _SIGN.search(text, at)) is not None:
        at = sign.end()
        if sign[0] in "[]":
            around = max(0, around + (1 if sign[0] == "[" else -1))
        elif slot := _SLOT.match(text, sign.start()):
            at = slot.end()
        elif sign[0] == "}" or around:
            raise ReplyError("its JSON object is broken, or stands within something else")
        else:
            try:
                value, at = REPLY_DECODER.raw_decode(text, sign.start())
            except ValueError as error:
                lenient_value = value_at(text, sign.start())
                if lenient_value is None and isinstance(error, json.JSONDecodeError):
                    problem = f"Invalid JSON: {error.msg} at character {error.pos}"
                    raise ReplyError(problem) from error
                if lenient_value is None:
                    raise ReplyError(str(error)) from error
                value, at = lenient_value
            yield value


def _after_thought(text: str) -> str:
    """Return the text after the model's reasoning. Raise ReplyError if the reasoning has no end."""
    said = after_thought(text)
    if said is None:
        raise ReplyError("it thinks, and does not come to an answer")
    return said


def _validated(document: Any, answer: type[Answer]) -> Answer:  # noqa: ANN401 - JSON of any shape
    """Return the document as an answer, after correcting values that only have the wrong type."""
    for _ in range(_MENDS):
        try:
            return _strictly(document, answer)
        except ValidationError as error:
            if not _mend(document, error):
                raise
    return _strictly(document, answer)


def _strictly(document: Any, answer: type[Answer]) -> Answer:  # noqa: ANN401 - JSON of any shape
    return answer.model_validate_json(json.dumps(document), strict=True)


def _mend(document: Any, error: ValidationError) -> bool:  # noqa: ANN401 - JSON of any shape
    """Mend values in place where possible, and return whether any was mended.

    "3" or 3.0 becomes a whole number; null is dropped for a member that may be missing.
    """
    is_mended = False
    for problem in error.errors(include_url=False, include_context=False):
        *path, last = problem["loc"] or ("",)
        inner = document
        for step in path:
            inner = inner[step] if _has(inner, step) else None
        if not _has(inner, last):
            continue
        member = inner[last]
        if member is None and isinstance(inner, dict) and problem["type"] != "missing":
            del inner[last]
            is_mended = True
        elif (number := _typed(member, problem["type"])) is not None:
            inner[last] = number
            is_mended = True
    return is_mended


def _has(value: Any, step: int | str) -> bool:  # noqa: ANN401 - JSON of any shape
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def _typed(given: object, problem: str) -> int | float | None:
    if problem in {"int_type", "int_from_float"}:
        if isinstance(given, float) and given.is_integer() and abs(given) < 2**53:
            return int(given)
        if isinstance(given, str) and _WHOLE.fullmatch(given):
            return int(given.partition(".")[0])
        return None
    if problem == "float_type":
        return float(given) if isinstance(given, str) and _NUMBER.fullmatch(given) else None
    return None


def _whole_part(document: Any, answer: type[Answer]) -> Answer:  # noqa: ANN401 - JSON of any shape
    """Return what a cut reply says, without the list entry in which it was cut."""
    try:
        return answer.model_validate(document, strict=True)
    except ValidationError:
        last = next(reversed(document), "") if isinstance(document, dict) else ""
        if not last or not isinstance(document[last], list | dict):
            raise
        kept = document[last]
        whole = kept[:-1] if isinstance(kept, list) else dict(list(kept.items())[:-1])
        return answer.model_validate({**document, last: whole}, strict=True)


def _problems(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    places = ((".".join(map(str, one["loc"])) or "the whole", one["msg"]) for one in found)
    lines = [f"{place}: {message}" for place, message in places]
    more = [f"and {len(lines) - _PROBLEMS} more"] if len(lines) > _PROBLEMS else []
    return "; ".join(lines[:_PROBLEMS] + more)


LONGEST = 400_000  # characters
# brackets within brackets; orjson gives up at 254, Python's own readers at some hundreds
DEEPEST = 100
MOST_DIGITS = 100  # in a row; a float has 309, and Python refuses to read 4,300
MOST_CALLS = 200
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{(]|[\]})]', re.DOTALL)
_LONG = re.compile(r"\d{19}")  # what is shorter is in no danger
_DIGITS = re.compile(rf"\d{{{MOST_DIGITS + 1}}}")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_INTEGER = re.compile(r"(?<![\d.])-?\d{19,}(?![\d.eE])")
_SIGNED, _UNSIGNED = -(2**63), 2**64  # what JSON readers keep exactly


def validate_text(text: str) -> None:
    """Raise ReplyError if a text is too long, nested too deeply, or has too long a number.

    A JSON reply also may not have whole numbers beyond 64 bits.
    """
    if len(text) > LONGEST:
        raise ReplyError(f"The reply has {len(text)} characters, and at most {LONGEST} are read.")
    has_long_number = _LONG.search(text) is not None
    if has_long_number and _DIGITS.search(text):
        raise ReplyError(f"The reply has a number of more than {MOST_DIGITS} digits.")
    if sum(map(text.count, "[{(")) > DEEPEST and depth_of(text) > DEEPEST:
        raise ReplyError(f"The reply has brackets nested more than {DEEPEST} deep.")
    is_json = has_long_number and text.lstrip()[:1] in {"{", "["}
    numbers = map(int, _INTEGER.findall(_STRING.sub('""', text)) if is_json else ())
    if any(not _SIGNED <= number < _UNSIGNED for number in numbers):
        problem = "The reply has a whole number beyond 64 bits, which no JSON reader keeps exactly."
        raise ReplyError(problem)


def validate_calls(calls: Sequence[Call]) -> None:
    """Raise ReplyError if there are too many native calls or their arguments exceed a bound."""
    if len(calls) > MOST_CALLS:
        raise ReplyError(f"The reply has {len(calls)} calls, and at most {MOST_CALLS} are read.")
    waiting: list[tuple[JsonValue, int]] = [(call.arguments, 1) for call in calls]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            raise ReplyError(f"The arguments of a call are nested more than {DEEPEST} deep.")
        if isinstance(value, dict | list):
            members = value.values() if isinstance(value, dict) else value
            waiting += [(member, depth + 1) for member in members]
        elif isinstance(value, str):
            validate_text(value)
        elif isinstance(value, int) and not _SIGNED <= value < _UNSIGNED:
            raise ReplyError("An argument of a call is a whole number beyond 64 bits.")


def depth_of(text: str) -> int:
    """Return how deep brackets are nested in a text, ignoring JSON strings."""
    depth = deepest = 0
    for found in _BRACKETS.finditer(text):
        sign = found[0]
        if sign in "[{(":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in ")}]":
            depth = max(0, depth - 1)
    return deepest
