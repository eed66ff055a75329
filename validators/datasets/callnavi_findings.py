"""What a fault in CallNavi's data is told as."""

from typing import NamedTuple


class Finding(NamedTuple):
    """A fault: its kind, where it is, and a sentence. `question`, `tool` and `parameter` are empty where none is meant."""

    kind: str
    domain: str
    question: str
    message: str
    tool: str = ""
    parameter: str = ""


KINDS: dict[str, str] = {
    "unknown_tool": "a call to a tool that does not exist",
    "undeclared_parameter": "a parameter that its tool does not declare",
    "missing_parameter": "a declared parameter that is not given",
    "wrong_count": "another number of parameter objects than of calls",
    "needless_placeholder": "a placeholder where the value stands in the request",
    "placeholder_without_source": "a placeholder in the first call, where no call could tell it, with no value in the request",
    "unexpected_placeholder": "placeholders in an easy or medium question, which the paper says give all parameters",
    "missing_placeholder": "a hard question without any placeholder",
    "invented_value": "a value that the request does not state",
    "wrong_type": "a value of another type than declared",
    "not_a_choice": "a value that is none of the declared choices",
    "accepts_anything": "an empty object as value, which the published scoring takes as a placeholder",
    "wrong_difficulty": "a number of calls that does not go with the difficulty",
    "repeated_id": "an id that several questions have",
    "repeated_question": "a request that several questions have",
    "other_count": "another number than in the paper's Table 2",
    "unnamed_types": "parameters declared by their names alone",
    "schema_differs": "a type that the folder APISchema gives otherwise than the folder APIs",
    "tool_declaration": "an odd declaration of a tool",
}
