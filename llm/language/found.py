"""What a recogniser hands back: a value and where the text says it."""

from typing import NamedTuple

from pydantic import JsonValue

VERBATIM = ""


class Found(NamedTuple):
    """A value said at `start`..`end` of the original text; `rule` names the normalisation, "" where it is verbatim."""

    value: JsonValue
    start: int
    end: int
    rule: str
