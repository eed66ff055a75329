"""The cases of CONFETTI's answers: BFCL's AST check on them, and whether a reply calls anything."""

import json
from pathlib import Path
from typing import Any

from bench.bfcl import UNREADABLE, check_calls
from callwright.validators.metrics.confetti.bfcl import CallVerdict, DecodedCall, decode_calls
from tests.conformance.comparing import (
    Case,
    Difference,
    Run,
    UnknownCaseError,
    compare,
    compare_crash,
    require_keys,
)

OTHER_LANGUAGES = ("java",)  # of BFCL's categories; CONFETTI has none of them
UNREADABLE_CALL = CallVerdict(
    valid=False, error_type=UNREADABLE, reason="The arguments of a call are no object."
)
OURS_ONLY = {"soft_ours"}  # one possible soft score, not an official result


def run_check(case: Case, _folder: Path) -> list[Difference]:
    """Calls, as values or as a text, against the accepted ones."""
    require_keys(case, {"confetti_id", "inputs", "official", *OURS_ONLY})
    inputs, official = case["inputs"], case["official"]
    require_keys(
        inputs,
        {"raw_text", "prediction", "function_docs_synthetic", "possible_answer", "test_category"},
    )
    if any(language in inputs["test_category"] for language in OTHER_LANGUAGES):
        raise UnknownCaseError(
            f"the category {inputs['test_category']!r} is of a language that CONFETTI does not have"
        )
    differences: list[Difference] = []
    made: list[DecodedCall | None] = [_made(one) for one in inputs.get("prediction") or []]
    if inputs.get("raw_text") is not None:
        decoded = decode_calls(inputs["raw_text"])
        if "decode_error" in official:
            return compare_crash(official["decode_error"], {}, is_failure=decoded.calls is None)
        if decoded.calls is None:
            return [Difference("decoded", inputs.get("prediction"), decoded.problem)]
        if "prediction" in inputs:
            differences = compare(
                {"decoded": inputs["prediction"]}, {"decoded": _told(decoded.calls)}
            )
        made = list(decoded.calls)
    check = _check(inputs, made)
    if "raises" in official:
        return differences + compare_crash(official["raises"], {}, is_failure=not check.valid)
    ours = {
        "valid": check.valid,
        "error_type": (
            check.error_type if not check.valid else official.get("error_type")
        ),  # says nothing of a valid call
        "is_variable": check.is_variable,
        "error": (
            official["error"] if bool(official["error"]) is bool(check.reason) else check.reason
        ),  # texts of theirs
    }
    return differences + compare(official, ours)


def _check(inputs: Case, made: list[DecodedCall | None]) -> CallVerdict:
    calls = [call for call in made if call is not None]
    if len(calls) < len(made):
        return UNREADABLE_CALL
    tools, answers = inputs["function_docs_synthetic"], inputs["possible_answer"]
    return check_calls(tools, calls, answers, inputs["test_category"])


def run_relevance(case: Case, _folder: Path) -> list[Difference]:
    """Whether a reply calls anything, where it should or should not."""
    require_keys(case, {"inputs", "official"})
    decoded = decode_calls(case["inputs"])
    official = case["official"]
    ours = {
        "decoded": None if decoded.calls is None else _told(decoded.calls),
        "decode_error": (
            official["decode_error"]
            if bool(official["decode_error"]) is bool(decoded.problem)
            else "none"
        ),
        "contains_function_call": bool(decoded.calls),
        "irrelevance_pass": not decoded.calls,
        "relevance_pass": bool(decoded.calls),
    }
    return compare(official, ours)


def _made(call: Any) -> DecodedCall | None:
    """A call as the file has it; None where its arguments are no object, which is a failure to
    us.
    """
    name = next(iter(call), "") if isinstance(call, dict) else ""
    arguments = call[name] if name else {}
    return DecodedCall(name, arguments) if isinstance(arguments, dict) else None


def _told(calls: list[DecodedCall]) -> Any:
    """The calls as JSON has them: a tuple is a list there."""
    return json.loads(json.dumps([{call.name: call.arguments} for call in calls]))


GROUPS: dict[str, Run] = {"cases": run_check, "relevance": run_relevance}
