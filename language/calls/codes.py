"""Spelled values and free text: ids, phones, links, cards, names, addresses and phrases."""

import binascii
import re
import string
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from functools import cache
from mimetypes import MimeTypes
from random import Random
from typing import Any

from callwright.language.names import split_name
from callwright.language.packs import fallback, of, packaged
from callwright.warehouse.records import Language

_PREFIX = 3
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # no I and no O: they look like digits
_NOT_LATIN = re.compile(r"[^A-Z]")


def code_table(name: str) -> Any:  # noqa: ANN401 - parsed YAML, typed by who asks for it
    """A table of what codes and numbers are made of."""
    return packaged("callwright.language.calls", "codes.yaml")[name]


def _pick(name: str, rng: Random) -> str:
    return str(rng.choice(code_table(name)))


def like(example: str, rng: Random) -> str:
    """Return another code of the same shape: its digits are replaced, and letters between digits.

    Letters that say what the code is of stay ("ORD-1042", "cus_9sk3Xw"), and so does a capital at
    the beginning. Of a UUID and of long hex digits all is replaced. A number has at least three
    digits, and other words stand for a code of words ("setup_fee").
    """
    if example.isdecimal() and len(example) < _FEWEST_DIGITS:
        return _digits(_FEWEST_DIGITS, rng)
    if is_uuid(example):
        return write_code("uuid", "", _ASCII, rng)
    if inner := _in_base64(example):
        other = _UUID.sub(lambda _: write_code("uuid", "", _ASCII, rng), inner)
        return urlsafe_b64encode(other.encode()).decode().rstrip("=")
    if found := _LONG_HEX.search(example):
        digits = shaped(f"{{h{len(found[0])}}}", rng)
        return example[: found.start()] + digits + example[found.end() :]
    prefix = prefix_of(example)
    other = _PIECE.sub(lambda piece: _piece_like(piece[0], rng), example[len(prefix) :])
    is_of_words = len(example) > _LONGEST_LETTERS and not any(map(str.isdecimal, example))
    is_of_words = is_of_words and prefix + other == example and example.isascii()
    return in_form_of(example, rng) if is_of_words else prefix + other


def _in_base64(code: str) -> str:
    """Return the text that an opaque id holds in base64 ("ciscospark://us/ROOM/…"), or ""."""
    if len(code) < _SHORTEST_BASE64 or not _BASE64.fullmatch(code):
        return ""
    try:
        inner = urlsafe_b64decode(code + "=" * (-len(code) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return inner if inner.isprintable() and _UUID.search(inner) else ""


def in_form_of(example: str, rng: Random) -> str:
    """Return a name of two words, joined and written as those of an example are, or of one word."""
    name = phrase("text name", _ASCII, rng)
    spelled = name.lower() if example.islower() else name.upper() if example.isupper() else name
    joint = next((sign for sign in example if not sign.isalnum()), "")
    words = _LETTERS_ONLY.findall(spelled)
    return joint.join(words) if joint else words[-1]


def _piece_like(piece: str, rng: Random) -> str:
    """Return letters and digits like others; letters are replaced if they spell nothing."""
    is_random = _spells_nothing(piece)
    kept = piece[0] if is_random and piece.isupper() and piece[0].isalpha() else ""
    if piece.isdecimal() and piece[0] != "0":
        return _digits(len(piece), rng)

    def other(character: str) -> str:
        if character.isdecimal():
            return rng.choice(string.digits)
        if not is_random or not character.isascii():
            return character
        among = string.ascii_uppercase if character.isupper() else string.ascii_lowercase
        return rng.choice(among)

    return kept + "".join(map(other, piece[len(kept) :]))


def prefix_of(code: str) -> str:
    """Return the letters at the beginning of a code that say what it is of ("cus_"), or ""."""
    found = None if is_uuid(code) else _PREFIX_OF_A_CODE.match(code)
    is_short = found and not found[0][-1].isalpha() and len(found[0]) <= _LONGEST_PREFIX
    return found[0] if found and (is_short or not _spells_nothing(found[0])) else ""


def _spells_nothing(piece: str) -> bool:
    """Whether letters are no words: between digits, without vowels, with capitals anywhere."""
    parts = split_name(piece)
    if piece.isalpha() and len(parts) > 1:
        return min(map(len, parts)) < _SHORTEST_WORD
    is_sounded = (
        piece.isalpha() and not piece.isupper() and 3 * len(_VOWEL.findall(piece)) >= len(piece)
    )
    return not is_sounded and _MEANINGLESS.search(piece) is not None


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID."""
    return _UUID.fullmatch(text) is not None


def write_code(kind: str, name: str, language: Language, rng: Random) -> str:  # noqa: C901, PLR0911 - a line a kind
    """Return a value of one of the CODED kinds; `name` hints at its shape."""
    words = split_name(name)
    if kind == "pin" and not {"cvv", "cvc"}.isdisjoint(words):
        return _digits(3, rng)
    if kind == "currency" and "pair" in words:
        return "/".join(rng.sample(code_table("currencies"), 2))
    match kind:
        case "phone":
            return shaped(str(_values(language)["phone"]), rng)
        case "email":
            first, last = person(_ASCII, rng).lower().split(" ")
            dot = rng.choice((".", "_", ""))
            return f"{first}{dot}{last}{rng.choice(('', str(rng.randint(2, 99))))}@{_pick('domains', rng)}"  # noqa: E501
        case "link":
            return write_link(name, "", rng)
        case "plate":
            letter = rng.choice(_LETTERS)
            return shaped(_values(language)["plate"], rng, letter)
        case "card":
            return f"4{_digits(15, rng)}"
        case "pin":
            return _digits(4, rng)
        case "file":
            return write_file(name, "", rng)
        case "uuid":
            text = f"{rng.getrandbits(128):032x}"
            return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"
        case "airport" | "currency":
            return _pick("airports" if kind == "airport" else "currencies", rng)
    # the ID of a version is no version
    telling = [word for word in words if word not in _NUMBERED or words[-1] != "id"]
    shape = next((_SHAPES[word] for word in telling if word in _SHAPES), None)
    return shape(rng) if shape else _identifier(words, rng)


def write_file(name: str, about: str, rng: Random, shown: str = "") -> str:
    """Return the name of a file that ends as one `shown` does, or its parameter's words tell."""
    ending = shown.rpartition(".")[2].lower()
    endings = [ending] if f".{ending}" in _ENDINGS else endings_told(name, about)
    endings = endings or code_table("endings")
    return f"{_pick('files', rng)}-{_digits(3, rng)}.{rng.choice(endings)}"


def shows_file(example: str) -> bool:
    """Whether an example is the name of a file, with the ending of one."""
    ending = f".{example.rpartition('.')[2].lower()}"
    return _FILE_NAME.fullmatch(example) is not None and ending in _ENDINGS


def endings_told(name: str, about: str) -> list[str]:
    """Return the endings that a file's parameter asks for by name or description, or []."""
    if stated := _stated_ending(about):
        return [stated]
    said = f"{' '.join(split_name(name))} {about}".lower()
    rows = code_table("endings_by_words")
    return next((row for words, row in rows if re.search(words, said)), [])


def _stated_ending(about: str) -> str:
    """Return the format that a text names as files end: ".xlsx", "a WAV file", or ""."""
    for found in _FORMAT.finditer(about):
        ending = (found[1] or found[2] or found[3]).lower()
        if found[1] or f".{ending}" in _ENDINGS:
            return ending
    return ""


def write_link(name: str, about: str, rng: Random) -> str:
    """Return a link to a made-up site, with a path by the words of a parameter's name.

    If those only say that it is a link, `about` says what for, such as a callback.
    """
    words = [word for word in split_name(name) if word not in code_table("link_words")]
    told = " ".join(words) or about.lower()
    shapes = (shape for pattern, shape in code_table("links") if re.search(pattern, told))
    plain = "https://{site}/{words}" if words else "https://{site}/{file}/{d4}"
    path = "-".join(words[-2:]) or "events"
    filled = next(shapes, plain).replace("{words}", path).replace("{site}", _pick("sites", rng))
    return shaped(filled.replace("{file}", _pick("files", rng)), rng)


def _identifier(words: tuple[str, ...], rng: Random) -> str:
    lead = next((word for word in words if word not in code_table("id_words")), "ref")
    prefix = code_table("prefixes").get(lead) or _NOT_LATIN.sub("", lead.upper())[:_PREFIX] or "REF"
    count = rng.choice((4, 5, 6))
    separator = rng.choice(("", "-", "")) if len(prefix) == _PREFIX else ""
    return f"{prefix}{separator}{_digits(count, rng)}"


def _digits(count: int, rng: Random) -> str:
    return str(rng.randint(10 ** (count - 1), 10**count - 1))


def shaped(shape: str, rng: Random, letter: str = "") -> str:
    """Return a random code of the shape `shape`, in which slots in braces are filled in.

    `{d4}` is four digits, `{h8}` eight hex digits, `{letter}` the given letter, `{any}` any
    letter, and `{a|b}` one of the options.
    """

    def fill(slot: re.Match[str]) -> str:
        match str(slot[1]):
            case "letter":
                return letter
            case "any":
                return str(rng.choice(_LETTERS))
            case options if "|" in options:
                return rng.choice(options.split("|"))
            case hexes if hexes.startswith("h"):
                return "".join(rng.choice("0123456789abcdef") for _ in range(int(hexes[1:])))
            case digits:
                return _digits(int(digits.removeprefix("d")), rng)

    return _SHAPE_SLOT.sub(fill, shape)


_NUMBERED = frozenset({"version", "country", "area"})
_SHAPES: dict[str, Callable[[Random], str]] = {
    "flight": lambda rng: f"{_pick('airlines', rng)}{_digits(rng.choice((3, 4)), rng)}",
    "train": lambda rng: f"{rng.choice('GDKTZ')}{_digits(rng.choice((2, 3, 4)), rng)}",
    "room": lambda rng: _digits(rng.choice((3, 4)), rng),
    "seat": lambda rng: f"{rng.randint(1, 40)}{rng.choice('ABCDEF')}",
    "version": lambda rng: f"{rng.randint(1, 5)}.{rng.randint(0, 12)}.{rng.randint(0, 9)}",
    "area": lambda rng: _digits(3, rng),
    "postal": lambda rng: _digits(5, rng),
    "zip": lambda rng: _digits(5, rng),
    "country": lambda rng: _pick("countries", rng),
    "passport": lambda rng: f"{rng.choice(_LETTERS)}{_digits(8, rng)}",
    "stock": lambda rng: _digits(6, rng),
    "coupon": lambda rng: f"SAVE{_digits(2, rng)}{rng.choice(_LETTERS)}{rng.choice(_LETTERS)}",
    "discount": lambda rng: f"DEAL{_digits(3, rng)}",
}


_ENDINGS = frozenset(MimeTypes().types_map[True])
_FILE_NAME = re.compile(r"\w[\w .-]*\.(?!com$)\w{2,5}")
_FORMAT = re.compile(
    r"(?<![\w/.])\.((?!\d)[a-z\d]{2,4}(?:\.gz)?)\b(?!\()"
    r"|\b([A-Z\d]{2,4})(?=[ -](?:files?|format)\b)"
    r"|\b(?:file|image|document) \(([A-Z\d]{2,4})\)"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SHORTEST_BASE64, _BASE64 = 40, re.compile(r"[\w-]+={0,2}", re.ASCII)
_TRIES, _REPEATED = 12, re.compile(r"\b(\w+)(?:'s)? \1\b", re.IGNORECASE)
_PREFIX_OF_A_CODE = re.compile(r"[A-Za-z]+[-_:.](?=.*\d)|[A-Z]{2,}(?=\d+$)")
_PIECE = re.compile(r"[^\W_]+")
# letters on both sides of digits or the other way round, or more consonants than words have
_MEANINGLESS = re.compile(
    r"[a-z]\d+[a-z]|\d[a-z]+\d|.[b-df-hj-np-tv-xz]{4}|[b-df-hj-np-tv-xz]{4}.", re.IGNORECASE
)
_VOWEL, _LETTERS_ONLY = re.compile("[aeiouy]", re.IGNORECASE), re.compile(r"[A-Za-z]+")
_LONGEST_PREFIX, _SHORTEST_WORD, _FEWEST_DIGITS, _LONGEST_LETTERS = 6, 3, 3, 3
_LONG_HEX = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{16,}")
_SLOT = re.compile(r"\{(\w+)\}")
_SHAPE_SLOT = re.compile(r"\{([^{}]+)\}")
_ASCII: Language = fallback()  # names in addresses of mails are spelled in its letters
# names as good as those that a schema gives
OWN_WORDS = frozenset({"person", "place", "origin", "destination"})
PHRASED = frozenset({"place", "origin", "destination", "country", "person", "address"})


def phrase(kind: str, language: Language, rng: Random) -> str:
    """Return a phrase of this kind, or a general one for a kind without phrases of its own."""
    match kind:
        case "place" | "origin" | "destination":
            return rng.choice([*lands(language)])
        case "country":
            return str(rng.choice(_values(language)["countries"]))
        case "person":
            return person(language, rng)
        case "address":
            return address(language, rng)
    templates = _values(language)["templates"]
    # "details of a claim" is, where no phrases are there for claims, a detail
    general, _, _ = kind.partition(" ")
    return _fill(
        rng.choice(templates.get(kind) or templates.get(general) or templates["text"]),
        language,
        rng,
    )


@cache
def lands(language: Language) -> dict[str, int]:
    """Return a language's places, each with the number of its landmass.

    A landmass is the area that can be crossed without a flight or a ship.
    """
    return {
        place: number for number, row in enumerate(_values(language)["places"]) for place in row
    }


def person(language: Language, rng: Random) -> str:
    """Return a full name."""
    values = _values(language)
    first, last = rng.choice(values["first_names"]), rng.choice(values["last_names"])
    return str(values["full_name"].format(first=first, last=last))


def address(language: Language, rng: Random) -> str:
    """Return a street and number, in the order in which the language writes them."""
    number = str(rng.randint(2, 199))
    return _fill(_values(language)["address"].replace("{number}", number), language, rng)


def _fill(template: str, language: Language, rng: Random) -> str:
    values = _values(language)
    named = {"place": [*lands(language)], "last": values["last_names"]}

    def word(slot: re.Match[str]) -> str:
        if slot[1] == "number":
            return str(rng.randint(2, 199))
        return str(rng.choice(named.get(slot[1]) or values["lists"][slot[1]]))

    filled = (_SLOT.sub(word, template) for _ in range(_TRIES))
    # "the training training"
    return next((text for text in filled if not _REPEATED.search(text)), template)


def _values(language: Language) -> dict[str, Any]:  # what a YAML file holds
    values: dict[str, Any] = of(language).data["values"]
    return values
