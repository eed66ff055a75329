"""The defects that the template model can be told to make, so that checks are measured against known errors."""

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from warehouse.errors import ConfigurationError

WRONG_TOOL = "wrong_tool"
MISSING_ARGUMENT = "missing_argument"
EXTRA_ARGUMENT = "extra_argument"
WRONG_ARGUMENT = "wrong_argument"
HALLUCINATED_VALUE = "hallucinated_value"
MALFORMED_JSON = "malformed_json"
REFUSAL = "refusal"
DEFECTS = (
    WRONG_TOOL, MISSING_ARGUMENT, EXTRA_ARGUMENT, WRONG_ARGUMENT, HALLUCINATED_VALUE, MALFORMED_JSON, REFUSAL,
)  # fmt: skip
OMITTED_CALL = "omitted_call"
NEEDLESS_CALL = "needless_call"
WRONG_ORDER = "wrong_order"
WRONG_TYPE = "wrong_type"
STEP_DEFECTS = (OMITTED_CALL, NEEDLESS_CALL, WRONG_ORDER, WRONG_TYPE)  # made only where calls are made in steps
_KNOWN = DEFECTS + STEP_DEFECTS
_APOLOGIES = (
    "I'm sorry, but I can't help with that.",
    "I apologize, I am not able to complete this request.",
    "Sorry, as an assistant I can't do this.",
    "抱歉，我无法完成这个请求。",
)
_ROUNDING = 1e-9


class ErrorRates(NamedTuple):
    """How often each defect is made: shares of the replies, at most one defect in each."""

    rates: tuple[tuple[str, float], ...]

    def draw(self, rng: Random) -> str:
        """The defect to make this time, "" for none."""
        point = rng.random()
        for name, rate in self.rates:
            if point < rate:
                return name
            point -= rate
        return ""


def error_rates(given: Mapping[str, float]) -> ErrorRates:
    """The rates in the order of DEFECTS and STEP_DEFECTS; ConfigurationError where a name is unknown or a rate is no share."""
    valid = ", ".join(_KNOWN)
    for name, rate in given.items():
        if name not in _KNOWN:
            raise ConfigurationError(f"template/v1 knows no defect {name!r} in error_rate; the defects are {valid}.")
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
            raise ConfigurationError(
                f"The error_rate of {name!r} is {rate!r}; a share between 0 and 1 is needed ({valid})."
            )
    total = sum(given.values())
    if total > 1 + _ROUNDING:
        raise ConfigurationError(
            f"The shares in error_rate add up to {total:g}; at most one defect goes into a reply, so 1 is the most ({valid})."
        )
    return ErrorRates(tuple((name, float(given[name])) for name in _KNOWN if given.get(name)))


def break_json(text: str, rng: Random) -> str:
    """JSON that no parser takes: cut short, with a comma too many, or with a wrong quote."""
    cut = max(1, len(text) - 1 - rng.randrange(max(1, len(text) // 2)))
    ways = (text[:cut], text[:-1] + "," + text[-1], text.replace('"', "'", 1))
    return rng.choice(ways)


def apology(rng: Random) -> str:
    """A refusal in plain text."""
    return rng.choice(_APOLOGIES)
