"""Whether a request states the value that a placeholder hides: by the parameter's name and by what is said."""

import re
from collections.abc import Iterator, Sequence

from language.dates import find_dates
from language.text import fold

_CODE = r"(?=[\w-]*\d)\w[\w-]*"
_MEANS = r"(VISA|MasterCard|Mastercard|AMEX|American Express|[Pp]ay[Pp]al|[Cc]redit [Cc]ard|[Dd]ebit [Cc]ard|[Cc]ash)\b"
_PLACE = r"([A-Z]\w*(?: [A-Z]\w*)*)"
_DATES = re.compile(r"\bdate\b")
_DATE_WORDS = re.compile(r"\b(?:birth|expiry|deadline)\b")
_SAID: tuple[tuple[str, str], ...] = (  # the parameter's folded name, and how its value is said; the group is the value
    (r"^(?:origin|from city|departure)", rf"\bfrom {_PLACE} to \b"),
    (r"^(?:destination|to city|arrival)", rf"\bfrom [A-Z][\w. ]*? to {_PLACE}"),
    (r"\bsender address|pickup location", r"\bfrom (?:my address )?(\d+ [\w ]+?(?:, [A-Z][\w ]+)?) to\b"),
    (r"\brecipient address", r"\bto (?:a recipient in )?(\d+ (?:\d+\w+ )?[A-Z]\w+(?: [A-Z]\w+)*(?:, [A-Z]\w+)?)"),
    (
        r"^(?!recipient).*(?:address|location)$",
        r"\b(?:address(?: is| to)?|home (?:on|at)):? (\d+ [A-Z]\w+(?: [A-Z]\w+)*)",
    ),
    (r"\bstreet$", r"\b(\d+ [A-Z]\w* (?:St|Street|Ave|Avenue|Rd|Road|Blvd|Lane)\b)"),
    (r"\bemail", r"([\w.+-]+@[\w.-]+\w)"),
    (r"\bphone", r"(\d{3}-(?:\d{3}-)?\d{4})"),
    (r"\bcategory", r"\bthe (\w+) category\b"),
    (r"\b(?:amount|price|premium|salary)", r"(\$\d[\d,.]*\d|\d[\d,.]*(?= (?:dollars?|USD|euros?|EUR)\b))"),
    (r"\bweight$", r"\b(\d+(?:\.\d+)?) ?kg\b"),
    (r"^length$", r"\b(\d+)x\d+x\d+ ?(?:cm)?\b"),
    (r"^width$", r"\b\d+x(\d+)x\d+ ?(?:cm)?\b"),
    (r"^height$", r"\b\d+x\d+x(\d+) ?(?:cm)?\b"),
    (r"\brating", r"\b(\d)[- ]stars?\b|\brating[\w ]* is ([A-D][+-]?)(?![\w])"),
    (r"^species", r"\b(cat|dog|rabbit|bird|horse|hamster)s?\b"),
    (r"\bgender", r"\b(man|woman|male|female)\b"),
    (r"\breason", r"\bbecause (?:of )?([^.,?]+)|\breason is ([^.,?]+)|\bdue to ([^.,?]+)"),
    (r"\breview period|pay period|statement period", r"\b(Q[1-4][- ]?\d{4})\b|\bmonth of ([A-Z][a-z]+ \d{4})"),
    (r"\bleave type", r"\b(maternity|paternity|annual|sick|parental|unpaid|vacation) leave\b"),
    (r"\broom type", r"\b(deluxe|luxury|standard|single|double|family|executive)(?= (?:rooms?|suites?))|\b(suite)s?\b"),
    (r"\bmeal type", r"\b(vegan|vegetarian|halal|kosher|gluten-free)\b"),
    (r"\bclass$", r"\b(business|economy|first)(?=[- ]class)\b"),
    (r"\bloan type", r"\b(home|car|personal|student|mortgage|education) loan\b"),
    (r"\bdepartment", r"\b(?:in|with) (?:the )?([A-Za-z]+(?:ology|atrics|surgery|opaedics|oncology))\b"),
    (r"\bdepartment", r"\b(?:the )?([A-Z]\w+|IT|HR) department\b"),
    (
        r"\b(?:method|payment info|payment details)",
        rf"\b(?:with|by|via|using) (?:my |an? )?{_MEANS}|\b{_MEANS} payment\b",
    ),
    (r"\bpayment method details", r"\b(VISA|AMEX|MasterCard)\b"),
    (r"\bapplication type", r"\b(new|replace(?:ment)?)\b[\w ]*\bpassport|\bpassport (replacement)\b"),
    (r"\bstatus$|\bsettings$", r"\b(enable|disable|activate|deactivate|turn (?:on|off))\b"),
    (r"^model$", r"\b(?:19|20)\d\d [A-Z]\w+ ([A-Z]\w+(?: \d\w*)?)\b"),
    (r"\bhospital name", r"\bHospital name is ([A-Z][\w ]+?)(?: and|[.,?]|$)"),
    (r"\bname$", r"\bnamed ([A-Z]\w+(?: [A-Z]\w+)*)"),
)
_KNOWN = tuple((re.compile(name), re.compile(said, re.IGNORECASE if said.islower() else 0)) for name, said in _SAID)
_TEXTUAL = re.compile(r"\b(?:query|title|type|reason|comments?|description|name|review|text|message|subject)$")
_QUOTED = re.compile(r"'([^'$]+)'(?!\w)|\"([^\"$]+)\"")
_ENDS = ("end ", "return ", "to ", "check out", "checkout")  # the second of two dates is meant
_IDENTIFIED = re.compile(r"^(?P<head>[\w ]+?) (?P<kind>id|number|code)$")


def find_said(parameter: str, request: str, stated: Sequence[str]) -> str:
    """The words of a request that state a parameter's value, empty where none does.

    `stated` are the values that the answer gives already: no second parameter is meant by them.
    """
    name = fold(parameter)
    place = int(_DATES.search(name) is not None and name.startswith(_ENDS))
    taken = {fold(value) for value in stated}
    found = [words for words in dict.fromkeys(_said(name, request)) if fold(words) not in taken]
    return found[place] if place < len(found) else ""


def _said(name: str, request: str) -> Iterator[str]:
    if _DATES.search(name) or _DATE_WORDS.search(name):
        yield from (request[found.start : found.end] for found in find_dates(request))
        return
    for pattern, said in _KNOWN:
        if pattern.search(name):
            yield from _groups(said, request)
    if identified := _IDENTIFIED.search(name):
        yield from _groups(_after(identified["head"], identified["kind"]), request)
    if _TEXTUAL.search(name):
        yield from _groups(_QUOTED, request)


def _after(head: str, kind: str) -> re.Pattern[str]:
    """A code that stands right behind what it identifies, as in "order ID 77" for `orderId`."""
    word = re.escape(head.rsplit(maxsplit=1)[-1])
    return re.compile(rf"\b{word}\b(?:\s+(?:{kind}|no\.?))?(?:\s+(?:is|with|:))?\s*[(:#]?\s*({_CODE})", re.IGNORECASE)


def _groups(pattern: re.Pattern[str], request: str) -> Iterator[str]:
    for match in pattern.finditer(request):
        yield next(group for group in match.groups() if group)
