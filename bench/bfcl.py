"""BFCL's check of whole calls, like its official checker, on the values CONFETTI compares.

Exports, answers and published cases are compared with it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from callwright.validators.metrics.confetti.bfcl import (
    OPTIONAL,
    Answer,
    CallVerdict,
    DecodedCall,
    Document,
    UnreadableAnswerError,
    check_value,
    listed,
)

UNREADABLE = "unreadable_answer"  # where the official checker crashes
RIGHT = CallVerdict(valid=True)


def check_calls(
    documents: Sequence[Document],
    made: Sequence[DecodedCall],
    answers: Sequence[Answer],
    category: str,
) -> CallVerdict:
    """Return whether the calls are the accepted ones.

    `category` decides how many calls there may be, as in BFCL.
    """
    try:
        if "parallel" in category:
            return _check_parallel(documents, made, answers)
        kind = "multiple" if "multiple" in category else "simple"
        if len(made) != (due := len(answers) if kind == "multiple" else 1):
            return _wrong_count(f"{kind}_function_checker", made, due)
        document = _document(documents, answers[0]) if kind == "multiple" else documents[0]
        return check_call(document, made[0], answers[0])
    except (UnreadableAnswerError, IndexError, StopIteration) as error:
        return CallVerdict(
            valid=False, error_type=UNREADABLE, reason=f"The answer can't be compared: {error}."
        )


def _check_parallel(
    documents: Sequence[Document], made: Sequence[DecodedCall], answers: Sequence[Answer]
) -> CallVerdict:
    """Match each answer with the first remaining call that fits, without backtracking."""
    if len(made) != len(answers):
        return _wrong_count("parallel_function_checker_no_order", made, len(answers))
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
            return CallVerdict(valid=False, error_type=name, reason=reason)
    return RIGHT


def _wrong_count(checker: str, made: Sequence[DecodedCall], due: int) -> CallVerdict:
    return CallVerdict(
        valid=False,
        error_type=f"{checker}:wrong_count",
        reason=f"There are {len(made)} calls for {due}.",
    )


def _document(documents: Sequence[Document], answer: Answer) -> Document:
    name = next(iter(answer))
    found = next((one for one in documents if one.get("name") == name), None)
    if found is None:
        raise UnreadableAnswerError(f"there is no tool {name!r}")
    return found


def check_call(document: Document, made: DecodedCall, answer: Answer) -> CallVerdict:
    """Check a call against the accepted one: name, required parameters, values, and omissions."""
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
        if parameter not in made.arguments and OPTIONAL not in listed(wanted):
            return _wrong("missing_optional", f"{parameter!r} is missing, and may not be left out.")
    return check


def _check_values(
    made: DecodedCall, accepted: Mapping[str, Any], properties: Mapping[str, Document]
) -> CallVerdict:
    variable = False
    for parameter, value in made.arguments.items():
        if parameter not in properties or parameter not in accepted:
            return _wrong("unexpected_param", f"{parameter!r} is not expected.")
        check = check_value(parameter, value, accepted[parameter], properties[parameter])
        if not check.valid:
            return check
        variable = variable or check.is_variable
    return CallVerdict(valid=True, is_variable=variable)


def _wrong(kind: str, reason: str) -> CallVerdict:
    return CallVerdict(valid=False, error_type=f"simple_function_checker:{kind}", reason=reason)
