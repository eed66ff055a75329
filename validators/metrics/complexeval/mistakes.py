"""What can be wrong with a call or with a run, and which of the paper's five error types that is (ComplexFuncBench 4.3.1)."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

FormatErrorKind = Literal["unknown_function", "missing_required_parameter", "unknown_parameter", "wrong_parameter_type"]
Kind = (
    FormatErrorKind
    | Literal[
        "func_error", "func_hallucination", "param_missing", "param_hallucination", "value_error",
        "stop_early", "decode_error", "unknown_error", "empty_response", "turn_limit", "crash",
    ]
)  # fmt: skip
ErrorType = Literal[
    "func_error", "param_missing", "hallucination", "value_error", "stop_early", "unreadable", "turn_limit", "crash"
]

FORMAT_ERRORS: frozenset[str] = frozenset(get_args(FormatErrorKind))
ERROR_TYPES: dict[str, ErrorType] = {
    "func_error": "func_error",
    "func_hallucination": "func_error",
    "unknown_function": "func_error",
    "param_missing": "param_missing",
    "missing_required_parameter": "param_missing",
    "param_hallucination": "hallucination",
    "unknown_parameter": "hallucination",
    "hallucination": "hallucination",
    "value_error": "value_error",
    "wrong_parameter_type": "value_error",
    "empty_response": "value_error",
    "stop_early": "stop_early",
    "decode_error": "unreadable",
    "unknown_error": "unreadable",
    "turn_limit": "turn_limit",
    "crash": "crash",
}


class Mistake(NamedTuple):
    """One thing that is wrong: `kind` as the published code names it, the parameter it is about, and a sentence."""

    kind: Kind
    parameter: str = ""
    reason: str = ""

    @property
    def error_type(self) -> ErrorType:
        """The error type of the paper's figure 4, or what ended the run otherwise."""
        return ERROR_TYPES[self.kind]

    @property
    def is_format_error(self) -> bool:
        """Whether the call failed the format check."""
        return self.kind in FORMAT_ERRORS
