"""What all of ComplexEval uses: rules that differ between benchmarks, and kinds of mistakes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

Runner = Literal["gpt", "claude", "mistral", "llama", "qwen", "glm"]
FormatErrorKind = Literal[
    "unknown_function", "missing_required_parameter", "unknown_parameter", "wrong_parameter_type"
]
Kind = (
    FormatErrorKind
    | Literal[
        "func_error",
        "func_hallucination",
        "param_missing",
        "param_hallucination",
        "value_error",
        "stop_early",
        "decode_error",
        "unknown_error",
        "empty_response",
        "turn_limit",
        "crash",
    ]
)
ErrorType = Literal[
    "func_error",
    "param_missing",
    "hallucination",
    "value_error",
    "stop_early",
    "unreadable",
    "turn_limit",
    "crash",
]
TURN_LIMIT = 30
SUCCESS = "Success."
FREE_FUNCTIONS = frozenset(
    {
        "Location_to_Lat_Long",
        "Search_Hotel_Destination",
        "Search_Attraction_Location",
        "Search_Car_Location",
        "Search_Flight_Location",
        "Taxi_Search_Location",
    }
)
# texts of values with commas between them, in any order
UNORDERED = frozenset({"categories_filter"})
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


class RunRules(NamedTuple):
    """The rules of a run.

    All but `turn_limit` and `unordered` belong to the published code and have no effect in the
    paper's version.

    `free` functions may be called at any turn; leftovers of `dropped` are forgiven at the end,
    and so is a call of the tool in `exempt` whose argument has that value. `exact` names the
    parameters that must be equal, by function. Values of `unordered` parameters are equal in any
    order. Of the runners, GPT and Claude stop at an unknown name, GPT and Mistral at an error in
    the last turn with calls.
    """

    free: frozenset[str] = FREE_FUNCTIONS
    dropped: frozenset[str] = FREE_FUNCTIONS - {"Location_to_Lat_Long"}
    exempt: tuple[str, str, str] = ("Search_Hotels", "search_type", "hotel")
    exact: Mapping[str, Collection[str]] = MappingProxyType({})
    unordered: frozenset[str] = UNORDERED
    runner: Runner = "gpt"
    turn_limit: int = TURN_LIMIT

    @property
    def ends_at_unknown_names(self) -> bool:
        """Whether a call of a function that is not offered ends the run."""
        return self.runner in {"gpt", "claude"}

    @property
    def keeps_last_errors(self) -> bool:
        """Whether a mistake in the last turn with calls makes the run fail."""
        return self.runner in {"gpt", "mistral"}


class Mistake(NamedTuple):
    """One mistake: `kind` as the published code names it, its parameter, and a sentence."""

    kind: Kind
    parameter: str = ""
    reason: str = ""

    @property
    def error_type(self) -> ErrorType:
        """The error type of the paper's figure 4, or the other reason why the run ended."""
        return ERROR_TYPES[self.kind]

    @property
    def is_format_error(self) -> bool:
        """Whether the call failed the format check."""
        return self.kind in FORMAT_ERRORS
