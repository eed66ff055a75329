"""Words that carry no content of their own, words that must never be skipped, and words with several spellings."""

from llm.language.calendars import MONTH_NUMBERS, MONTHS, WEEKDAY_SHORT
from llm.language.english_numerals import ordinal_words, unit_words
from llm.language.stemming import stem

_AMBIGUOUS_ORDINALS = 2  # "first" and "second" are adverbs and seconds as well

# dropped from both sides
_EMPTY_WORDS = (
    "a an the of in on at is are was were be been being it its my your our i me we you that s and for with please "
    "have has had do does did will would should can could about so just as by oclock some there 的 了 地 得 之"
)
EMPTY = frozenset(_EMPTY_WORDS.split())
NEGATIONS = frozenset(
    "no not without never dont doesnt isnt cannot cant except nor none 不 没 无 别 非 未 勿".split()  # noqa: SIM905
)
# with these, the order of the other words is the meaning
ORDERED = frozenset(
    "to from before after than between until till over under minus versus vs per 到 至 从 比".split()  # noqa: SIM905
)
# a place is the same with them and without
PLACE_SUFFIXES = frozenset({"city", "province", "district", "municipality", "county"})

_ABBREVIATIONS = {
    "sqm": "square meter", "㎡": "square meter", "km": "kilometer", "kms": "kilometer", "kg": "kilogram",
    "kgs": "kilogram", "cm": "centimeter", "mins": "minute", "hr": "hour", "hrs": "hour", "metre": "meter",
    "metres": "meter", "kilometre": "kilometer", "kilometres": "kilometer", "rmb": "yuan", "cny": "yuan",
    "¥": "yuan", "$": "dollar", "usd": "dollar", "€": "euro", "eur": "euro", "£": "pound", "gbp": "pound",
    "pc": "computer", "tv": "television", "info": "information", "ad": "advertisement", "ads": "advertisement",
    "dept": "department", "rd": "road", "ave": "avenue", "blvd": "boulevard", "mt": "mount", "ok": "okay",
    "sms": "text message", "cellphone": "mobile phone", "cell": "mobile", "max": "maximum", "asap": "soon",
    "dr": "doctor",
    "bldg": "building", "apt": "apartment", "uni": "university", "grey": "gray", "licence": "license",
    "cheque": "check", "programme": "program", "catalogue": "catalog", "dialogue": "dialog", "tyre": "tire",
}  # fmt: skip
_REGIONAL = {
    "metro": "subway", "underground": "subway", "cinema": "movie theater", "film": "movie", "flat": "apartment",
    "lift": "elevator", "petrol": "gas", "holiday": "vacation", "lorry": "truck", "cafe": "coffee shop",
    "utilities": "utility", "postcode": "zip code", "cv": "resume", "taxi": "cab", "autumn": "fall",
}  # fmt: skip
NUMBER_WORDS = {word: str(number) for word, number in unit_words().items()}
MONTH_WORDS = {word: MONTHS[number - 1].lower() for word, number in MONTH_NUMBERS.items() if word != "may"}


def respellings() -> dict[str, tuple[str, ...]]:
    """Folded words and the words they stand for."""
    weekdays = {word: name for word, name in WEEKDAY_SHORT.items() if word != "mon"}
    ordinals = {word: str(number) for word, number in ordinal_words().items() if number > _AMBIGUOUS_ORDINALS}
    single = {**weekdays, **ordinals, **NUMBER_WORDS, **MONTH_WORDS, **_ABBREVIATIONS, **_REGIONAL}
    return {stem(word): tuple(meaning.split()) for word, meaning in single.items()}
