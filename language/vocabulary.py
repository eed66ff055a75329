"""Words: their stems, those that carry no content, those that mean the same, and those that take something back."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from callwright.language.packs import LanguagePattern, known, of
from callwright.language.protocol import LanguagePack


# all of them negate in texts of any language that holds them
@cache
def negations() -> frozenset[str]:
    """The words that negate what stands near them."""
    return _union("negations")


@cache
def place_suffixes() -> frozenset[str]:
    """Words that the name of a place is the same with and without."""
    return _union("place_suffixes")


@cache
def ordered() -> frozenset[str]:
    """Words with which the order of the other words is the meaning."""
    return _union("ordered")


@lru_cache(64)
def empty(packs: tuple[LanguagePack, ...]) -> frozenset[str]:
    """The words of these languages that carry no content of their own."""
    return frozenset().union(*(pack.words.get("empty", frozenset()) for pack in packs))


def _union(name: str) -> frozenset[str]:
    return frozenset().union(*(of(code).words.get(name, frozenset()) for code in known()))


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


@lru_cache(64)
def respellings(packs: tuple[LanguagePack, ...]) -> Mapping[str, tuple[str, ...]]:
    """Folded words of these languages, and the words that they stand for."""
    single = {word: meaning for pack in packs for word, meaning in pack.rules.respellings().items()}
    return {stem(word): tuple(meaning.split()) for word, meaning in {**single, **_ABBREVIATIONS, **_REGIONAL}.items()}


_CORRECTION = LanguagePattern("@{correction}")


class CorrectionMark(NamedTuple):
    """Words that take something back; what holds instead begins at `end`."""

    start: int
    end: int


def find_corrections(text: str) -> list[CorrectionMark]:
    """The corrections in a text, in its order."""
    return [CorrectionMark(*match.span()) for match in _CORRECTION.of(text).finditer(text)]


_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SHORTEST = 3
_IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot", "teeth": "tooth",
    "mice": "mouse", "went": "go", "gone": "go", "going": "go", "goes": "go", "bought": "buy", "sent": "send",
    "paid": "pay", "made": "make", "took": "take", "taken": "take", "gave": "give", "given": "give", "said": "say",
    "told": "tell", "found": "find", "got": "get", "left": "leave", "lost": "lose", "broke": "break",
    "broken": "break", "drove": "drive", "driven": "drive", "wrote": "write", "written": "write", "ate": "eat",
    "eaten": "eat", "slept": "sleep", "ran": "run", "running": "run", "flew": "fly", "flown": "fly", "saw": "see",
    "seen": "see", "came": "come", "met": "meet", "held": "hold", "kept": "keep", "felt": "feel", "spent": "spend",
    "sold": "sell", "hung": "hang", "dying": "die", "lying": "lie", "tying": "tie", "bus": "bus", "buses": "bus",
    "gas": "gas", "lens": "lens", "news": "news", "yes": "yes", "this": "this", "his": "his", "during": "during",
    "thing": "thing", "training": "training", "king": "king", "ring": "ring", "spring": "spring", "string": "string",
    "bring": "bring", "sing": "sing", "wing": "wing", "evening": "evening", "morning": "morning",
    "beijing": "beijing", "need": "need",
    "care": "care", "cares": "care", "cared": "care", "caring": "care",  # not "car"
    "note": "note", "notes": "note", "noted": "note", "noting": "note", "none": "none",  # not "not", not "non"
    "bed": "bed", "red": "red", "speed": "speed", "feed": "feed", "seed": "seed", "series": "series",
}  # fmt: skip
# the endings as light stems have them: without a final e, with i for a final y
_DEEP = (
    ("ization", ""), ("isation", ""), ("ational", ""), ("iveness", ""), ("fulness", "ful"), ("ization", ""),
    ("ation", ""), ("ition", ""), ("ction", "ct"), ("ssion", "ss"), ("sion", "d"), ("tion", "t"), ("ment", ""),
    ("ness", ""), ("iti", ""), ("icalli", ""), ("ical", ""), ("alli", ""), ("li", ""), ("anc", ""), ("enc", ""),
    ("abl", ""), ("ibl", ""), ("ful", ""), ("iv", ""), ("iz", ""), ("at", ""), ("al", ""), ("er", ""), ("or", ""),
    ("ist", ""), ("ic", ""), ("i", ""),
)  # fmt: skip


@lru_cache(16384)
def stem(word: str) -> str:
    """The light stem of a folded English word: `books`, `booked` and `booking` are all `book`."""
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return _without_final_e(_american(_without_tense(_singular(word))))


@lru_cache(16384)
def deep_stem(word: str) -> str:
    """A stem that also joins `decorate` with `decoration` and `pay` with `payment`; too bold for a single word."""
    light = stem(word)
    if not light.isascii() or not light.isalpha():
        return light
    for ending, instead in _DEEP:
        rest = len(light) - len(ending)
        if light.endswith(ending) and rest > _SHORTEST:
            return light[:rest] + instead
    return light


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST + 1:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "ics")):
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    for ending in ("ing", "ied", "ed"):
        rest = word[: -len(ending)]
        if not word.endswith(ending) or len(rest) < _SHORTEST or not _VOWEL.search(rest):
            continue
        if ending == "ied":
            return rest + "y"
        return rest[:-1] if _DOUBLED.search(rest) else rest
    return word


def _american(word: str) -> str:
    if word.endswith("our") and len(word) > _SHORTEST + 1:
        return word[:-3] + "or"
    if word.endswith("tre"):
        return word[:-2] + "er"
    return re.sub(r"is(e|ing|ed|er)?$", r"iz\1", word) if word.endswith(("alise", "nise")) else word


def _without_final_e(word: str) -> str:
    if word.endswith("y") and len(word) > _SHORTEST:
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST else word


# one group a line; a hyphen joins two words that count as one
_GROUPS = """
daily every-day each-day
weekly every-week each-week
monthly every-month each-month
yearly annual annually every-year
minimum least fewest minimal lowest smallest less fewer
maximum most highest largest greatest
fast quick rapid speedy
fastest quickest
near nearby close adjacent
nearest closest
cheap inexpensive low-cost affordable
expensive costly pricey
large big
small little tiny
begin start commence
end finish terminate
buy purchase
get obtain acquire
repair fix mend
delete remove erase
modify change alter edit amend
choose select pick
search find look-up seek
show display view
query check inquire
reserve book
reservation booking
cancel call-off
help assist aid
need require
rent lease
rental lease
speak talk
reply respond answer
illegal unlawful
error mistake
issue problem trouble
activity event
meeting conference
discussion talk
summary wrap-up recap overview roundup
exchange communication interchange
schedule timetable
plan scheme
project program
training workshop
session class
lesson course
newsletter bulletin
announcement notice
reminder alert
suburb outskirt
downtown city-center city-centre town-center
neighborhood community residential-area
house home residence
apartment condo
room chamber
floor storey story
bathroom restroom toilet
kitchen cookhouse
garage carport
street road
highway motorway freeway expressway
sidewalk pavement
restaurant eatery
food cuisine
snack refreshment
breakfast morning-meal
lunch luncheon
dinner supper
drink beverage
hotel inn
tourist traveler visitor
trip journey travel
tour excursion
luggage baggage
flight plane airplane aircraft
ship vessel
boat ferry
car automobile vehicle
bicycle bike
motorcycle motorbike
train railway rail
ticket fare
seat place
driver chauffeur
passenger rider
doctor physician
nurse caregiver
illness disease sickness
medicine medication drug
hospital infirmary
dentist dental
child kid baby
man male gentleman
woman female lady
boy son
girl daughter
mother mom mum
father dad
grandmother grandma
grandfather grandpa
husband spouse
friend pal buddy
colleague coworker co-worker
boss manager supervisor
employee worker
student pupil
teacher instructor
lawyer attorney
picture image photo photograph
movie film
song track
music tune
voice sound tone
television tv
phone telephone cellphone
computer pc
message text
text-message sms
email e-mail
mail post
letter correspondence
document file
folder directory
password passcode
job work occupation
salary wage pay
money cash
price cost
bill invoice
tax duty
loan credit
deposit down-payment
insurance coverage
license permit
certificate certification
contract agreement
gift present
clothes clothing apparel
shoe footwear
trousers pants
sofa couch
closet wardrobe
garbage trash rubbish
gasoline petrol
weather climate
rain rainfall
snow snowfall
storm tempest
autumn fall
beautiful pretty lovely
happy glad cheerful
sad unhappy
angry mad
tired exhausted
comfortable cozy comfy
easy simple
difficult hard tough
important significant
famous well-known renowned
good nice fine
great excellent awesome
bad poor
new latest
old aged
safe secure
quiet silent
loud noisy
clean tidy
dirty filthy
broken damaged
fail failure
hurt injure
exercise workout
run jog
swim swimming
walk stroll walking
hobby pastime
goal aim target objective
opinion view viewpoint
comment remark
review evaluation appraisal
suggestion advice recommendation
frequent common regular
always constantly
often frequently
sometimes occasionally
now currently presently
soon shortly
midnight twelve-at-night
direct non-stop nonstop
economy coach
""".strip().splitlines()


@lru_cache(1)
def senses() -> dict[str, str]:
    """What each word, or pair of words joined by a space, is compared as."""
    table: dict[str, str] = {}
    for group in _GROUPS:
        words = group.split()
        for word in words:
            table.setdefault(sense_key(word.split("-")), f"={words[0]}")
    return table


def sense_key(words: list[str]) -> str:
    """The key of a word or a pair of words in the table."""
    return " ".join(deep_stem(stem(word)) for word in words)
