"""The names of months and weekdays in English, and months of relative years."""

import re

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NUMBERS = {
    **{name.lower(): number for number, name in enumerate(MONTHS, 1)},
    **{name.lower()[:3]: number for number, name in enumerate(MONTHS, 1)},
    "sept": 9,
}
MONTH_PATTERN = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
WEEKDAY_PATTERN = "|".join(f"{name.lower()}|{name.lower()[:3]}" for name in WEEKDAYS)
WEEKDAY_SHORT = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thur": "thursday",
    "thurs": "thursday", "fri": "friday",
}  # fmt: skip
_MONTH_OF_YEAR = re.compile(
    rf"\s*(?P<month>{MONTH_PATTERN})\s+(?:of\s+)?(?P<year>this|last|next)\s+year\s*", re.IGNORECASE
)
_MONTH_STATED = re.compile(
    rf"\b(?:(?P<month>{MONTH_PATTERN})\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?,?\s+(?:of\s+)?(?P<year>this|last|next)\s+year"
    rf"|(?P<before>this|last|next)\s+(?P<after>{MONTH_PATTERN}))\b",
    re.IGNORECASE,
)


def find_month(phrase: str, text: str) -> tuple[int, int] | None:
    """Where `text` states a date in the month of `phrase`: "December of last year" in "December 25 of last year"."""
    wanted = _MONTH_OF_YEAR.fullmatch(phrase)
    if not wanted:
        return None
    month, year = MONTH_NUMBERS[wanted["month"].lower()], wanted["year"].lower()
    for match in _MONTH_STATED.finditer(text):
        stated = MONTH_NUMBERS[(match["month"] or match["after"]).lower()], (match["year"] or match["before"]).lower()
        if stated == (month, year):
            return match.span()
    return None
