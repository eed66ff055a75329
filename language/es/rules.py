"""The rules of Spanish: numbers in words, dates, times of day, descriptions, and the agreement of gender and number."""

import re
from collections.abc import Iterator
from datetime import date
from random import Random

from callwright.language.names import words
from callwright.language.protocol import PERCENT, WORDS, ClockReading, LanguageRules, Number

# ruff: noqa: PLR2004 - days, hours and the powers of ten are what this file is about

_MONTHS = (
    "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre",
    "diciembre",
)  # fmt: skip
_WEEKDAYS = ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo")
_MONTH_NUMBERS = {**{name: number for number, name in enumerate(_MONTHS, 1)}, "setiembre": 9}
_UNITS = (
    "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce", "trece",
    "catorce", "quince", "dieciséis", "diecisiete", "dieciocho", "diecinueve", "veinte", "veintiuno", "veintidós",
    "veintitrés", "veinticuatro", "veinticinco", "veintiséis", "veintisiete", "veintiocho", "veintinueve",
)  # fmt: skip
_TENS = ("treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa")
_HUNDREDS = (
    "doscient", "trescient", "cuatrocient", "quinient", "seiscient", "setecient", "ochocient", "novecient",
)  # fmt: skip
_ACCENTS = str.maketrans("áéíóú", "aeiou")
# in folded text, without accents; both genders
_BELOW_THIRTY: dict[str, int] = {
    **{word.translate(_ACCENTS): number for number, word in enumerate(_UNITS)},
    "un": 1, "una": 1, "veintiun": 21, "veintiuna": 21,
}  # fmt: skip
_BY_TEN = dict(zip(_TENS, range(30, 100, 10), strict=True))
_BY_HUNDRED = {
    "cien": 100, "ciento": 100,
    **{f"{stem}{end}": 100 * number for number, stem in enumerate(_HUNDREDS, 2) for end in ("os", "as")},
}  # fmt: skip
_VALUES = {**_BELOW_THIRTY, **_BY_TEN, **_BY_HUNDRED}
_ONES = {word: number for word, number in _BELOW_THIRTY.items() if 0 < number < 10}
_BELOW_SIXTY = {  # hours, minutes and days of a month
    **{word: number for word, number in _VALUES.items() if 0 < number < 60},
    **{f"{tens} y {word}": _BY_TEN[tens] + one for tens in _TENS[:3] for word, one in _ONES.items()},
}
_DAYS = {**{word: number for word, number in _BELOW_SIXTY.items() if number <= 31}, "primero": 1}
_ALONE = frozenset({"un", "una", "uno"})  # articles and pronouns more often than numbers
_WRITTEN_TO = 30
_NOON = 12


def _any_of(stated: dict[str, int]) -> str:
    return "|".join(sorted(stated, key=len, reverse=True))


_UP_TO_99 = rf"(?:(?:{_any_of(_BY_TEN)})\sy\s(?:{_any_of(_ONES)})|{_any_of(_BY_TEN)}|{_any_of(_BELOW_THIRTY)})"
_UP_TO_999 = rf"(?:(?:{_any_of(_BY_HUNDRED)})(?:\s{_UP_TO_99})?|{_UP_TO_99})"
_BELOW_MILLION = rf"(?:(?:{_UP_TO_999}\s)?mil(?:\s{_UP_TO_999})?|{_UP_TO_999})(?![a-z])"
_NUMBER = re.compile(
    r"(?<![a-z\d])(?P<sign>(?<!al\s)(?<!lo\s)(?<!\bo\s)menos\s)?"
    rf"(?P<words>{_BELOW_MILLION}(?:\smill(?:on|ones)(?:\s{_BELOW_MILLION})?)?)"
    r"(?P<half>\sy\smedi[oa])?(?P<percent>\s?por\s?ciento)?(?![a-z\d])"
)
_SCALES = ((re.compile(r"\s?mill(?:on|ones)\b\s?"), 1_000_000), (re.compile(r"\s?\bmil\b\s?"), 1000))

_HOUR = _any_of({word: number for word, number in _BELOW_SIXTY.items() if number <= _NOON})
_PART = r"(?:de\s+la\s+|por\s+la\s+|del\s+|de\s+)(?P<part>manana|tarde|noche|madrugada|mediodia)|(?P<half_day>[ap])\.?\s?m\b\.?"
_CLOCK = re.compile(
    r"(?<![\w.:/$€£¥-])(?:(?P<article>las?)\s+)?(?:"
    r"(?P<h1>\d{1,2})[:.h](?P<n1>[0-5]\d)(?::[0-5]\d)?(?:\s?h(?:oras|s)?\b)?"
    rf"|(?P<h2>\d{{1,2}}|{_HOUR})"
    rf"(?:\s+(?P<way>y|menos|con)\s+(?P<n2>media|cuarto|{_any_of(_BELOW_SIXTY)}|\d{{1,2}})(?:\s+minutos)?)?"
    rf")(?![\d:]|\.\d)(?P<sharp>\s+en\s+punto)?(?:[\s,]*(?:{_PART}))?(?!\w)"
)
_NAMED_CLOCK = re.compile(r"(?<![a-z])(?<!del\s)(?:el\s+|la\s+)?(?P<name>mediodia|medianoche)(?![a-z])")
_CLOCK_HINT = re.compile(r"\d[:.h]\d\d|\blas?\s|\d\s?[ap]\.?\s?m\b|en punto")
_NAMED_HINT = re.compile("mediodia|medianoche")
# no noun follows: "las siete" is a time, "las siete maletas" are suitcases
_CLOCK_ENDS = re.compile(r"\s*(?:$|[.,;:!?\"'»)]|(?:y|del?|para|en|a|el|hasta|con|por|como)\b)")
_ROUND = {"media": 30, "cuarto": 15}
_LAST_AFTERNOON = 7
_WRITTEN = {0: "{0}", 15: "{0} y cuarto", 30: "{0} y media", 45: "{1} menos cuarto"}

_PEOPLE = frozenset({"comensales", "pasajeros", "personas", "invitados", "huéspedes", "adultos", "niños"})
_CON_CON = re.compile(r"( como [^\"“«,]{1,40}?) con ")
_ARTICLE = re.compile(r"\b(?:el|la|los|las|mi|un|una)\s+$", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)$")
_NUMBER_OF = "número de "

_MOST_WORDS, _LONGEST_CUE = 16, 6  # of an action, of what a parameter is called
_FRAME = re.compile(
    r"^(?:(?:esta|la) (?:herramienta|función) (?:sirve para|permite)|permite|sirve para)\s+", re.IGNORECASE
)
_ASIDE = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_END = re.compile(r"[.;:(\n!]|,\s|\s(?:por ejemplo|tales como)\b")
_HEAD = re.compile(r"^(?:el|la|los|las|un|una|su|tu)\s+", re.IGNORECASE)
_YES_NO = re.compile(r"^(?:indica\s+)?si\s", re.IGNORECASE)
_SYNONYMS = {
    "consultar": ("ver", "mirar"), "buscar": ("encontrar",), "eliminar": ("borrar", "quitar"), "crear": ("hacer",),
    "mostrar": ("ver",), "calcular": ("estimar",), "cancelar": ("anular",), "enviar": ("mandar",), "valorar": ("puntuar",),
    "programar": ("configurar",), "escribir": ("redactar",), "averiguar": ("saber",), "añadir": ("agregar",),
}  # fmt: skip

_FEMININE = re.compile(r"(?:a|ción|sión|dad|tad|tud|umbre)$")
_FEMININE_WORDS = frozenset(words("noche clase llave tarde calle sede imagen luz voz señal mano foto base"))
_MASCULINE_WORDS = frozenset(words("día mapa idioma problema programa tema sistema clima poema planeta"))
_NOT_PLURAL = frozenset(words("mes autobús interés lunes martes miércoles jueves viernes gas país cumpleaños paraguas"))
_ARTICLES = {(False, False): "el", (True, False): "la", (False, True): "los", (True, True): "las"}
_ARTICLE_OF_CUE = re.compile(r"\b(?P<lead>[Ee]l|del|al) (?P<called>\{c\})")
_IN_PLURAL = (
    ("tiene que ser", "tienen que ser"), ("debe decir", "deben decir"), ("Me falta el", "Me faltan el"),
    ("Cuál es", "Cuáles son"), ("cuál es", "cuáles son"), ("Cuál sería", "Cuáles serían"),
    ("{c} es ", "{c} son "), ("{c} sería ", "{c} serían "), ("{c} sea ", "{c} sean "),
)  # fmt: skip
_OF_HOURS = re.compile(r"(?P<verb>\bes|\bser|\bsea|\bsería) \{v\}")
_DEMONSTRATIVES = {
    "otro": ("otro", "otra", "otros", "otras"), "ese": ("ese", "esa", "esos", "esas"),
    "este": ("este", "esta", "estos", "estas"),
}  # fmt: skip
_DEMONSTRATIVE = re.compile(r"\b(otro|ese|este) (?=\{c\})")


class Rules(LanguageRules):
    """What no list of Spanish words can state."""

    DATE_PATTERNS = (
        r"(?<![\w.:/\-])(?:el\s+)?(?:(?:lunes|martes|miercoles|jueves|viernes|sabado|domingo),?\s+)?"
        rf"(?:el\s+)?(?:dia\s+)?(?P<d>\d{{1,2}}|{_any_of(_DAYS)})\s+de\s+(?P<m>{'|'.join(_MONTH_NUMBERS)})(?![a-z])"
        r"(?:\s*,?\s*(?:del?\s+)?(?:ano\s+)?(?P<y>(?:19|20)\d\d)(?![\w:]))?",
    )

    def day_of_month(self, words: str) -> int | None:
        return _DAYS.get(re.sub(r"\s+", " ", words))

    def month_number(self, words: str) -> int | None:
        return _MONTH_NUMBERS.get(words)

    def date_forms(self, year: int, month: int, day: int) -> tuple[str, ...]:
        name, weekday = _MONTHS[month - 1], _WEEKDAYS[date(year, month, day).weekday()]
        return (
            f"el {day} de {name} de {year}",
            f"el {weekday} {day} de {name} de {year}",
            f"el {day} de {name} del {year}",
        )

    def moment_forms(self, day: str, clock: str) -> tuple[str, ...]:
        return (f"{day} a {clock}",)

    def number_words(self, text: str) -> Iterator[Number]:
        """Veintidós, treinta y cinco, doscientas, dos mil quinientos."""
        for match in _NUMBER.finditer(text):
            if match["words"] not in _ALONE:
                value = _value(match["words"]) + (0.5 if match["half"] else 0)
                rule = PERCENT if match["percent"] else WORDS
                yield Number(-value if match["sign"] else value, *match.span(), rule)

    def number_forms(self, number: int) -> tuple[str, ...]:
        """The words for short numbers that have one form for both genders and are no other word."""
        if number in (11, 21):
            return ()
        if 2 <= number < _WRITTEN_TO:
            return (_UNITS[number],)
        if number <= 100:
            return {100: ("cien",), **{value: (word,) for word, value in _BY_TEN.items()}}.get(number, ())
        thousands = number // 1000
        if number % 1000 or thousands >= _WRITTEN_TO or thousands in (11, 21):
            return ()
        return ("mil" if thousands == 1 else f"{_UNITS[thousands]} mil",)

    def clock_readings(self, text: str) -> Iterator[ClockReading]:
        """Las 19:30, las siete y media de la tarde, la una menos cuarto, mediodía."""
        if _NAMED_HINT.search(text):
            for match in _NAMED_CLOCK.finditer(text):
                yield ClockReading(*match.span(), 0 if match["name"] == "medianoche" else _NOON, 0, "named")
        if _CLOCK_HINT.search(text):
            yield from filter(None, (_clock(match, text) for match in _CLOCK.finditer(text)))

    def write_clock(self, hour: int, minute: int, rng: Random) -> str:
        on_clock, following = hour % _NOON or _NOON, (hour + 1) % _NOON or _NOON
        parts = (
            (1, "de la noche"),
            (6, "de la madrugada"),
            (12, "de la mañana"),
            (13, "del mediodía"),
            (20, "de la tarde"),
        )
        part = next((part for limit, part in parts if hour < limit), "de la noche")
        article = "la" if on_clock == 1 else "las"
        forms = [f"las {hour:02}:{minute:02}" if hour > _NOON else f"{article} {on_clock}:{minute:02} {part}"]
        if minute in _WRITTEN:
            hours = ("la una" if one == 1 else f"las {_UNITS[one]}" for one in (on_clock, following))
            forms.append(f"{_WRITTEN[minute].format(*hours)} {part}")
        return rng.choice(forms)

    def counted(self, called: str, name: str) -> tuple[str, str] | None:
        what = called.removeprefix(_NUMBER_OF)
        if what == called or not self.is_plural(what):
            return None
        return f"{'cuántas' if _is_feminine(what) else 'cuántos'} {what}", what

    def counted_argument(self, called: str) -> str:
        """People alone: "para 4 comensales"."""
        what = called.removeprefix(_NUMBER_OF)
        return what if what != called and what in _PEOPLE else ""

    def point(self, before: str, phrase: str, after: str, cue: str, *, is_typed: bool) -> str:
        """The phrase brings its article, follows a name behind a colon, and takes the preposition that a value needs."""
        if f" {before.lower()}".endswith(f" {cue.lower()} "):
            before = f"{before.rstrip()}: "
        before = _ARTICLE.sub("", before)
        phrase = phrase[:1].upper() + phrase[1:] if _SENTENCE_START.search(before) else phrase
        return f"{before}{phrase}{after}"

    def smooth(self, request: str) -> str:
        """A request in which a second "con" is joined to the first, and "de" to its article."""
        return _CON_CON.sub(r"\1 y con ", request).replace(" de el ", " del ")

    def action_of(self, name: str, description: str) -> str:
        """What to ask of the tool in the infinitive."""
        clause = _END.split(_FRAME.sub("", _ASIDE.sub("", description).strip()), maxsplit=1)[0].strip()
        return clause[0].lower() + clause[1:] if 1 <= len(clause.split()) <= _MOST_WORDS else ""

    def other_actions(self, phrase: str) -> tuple[str, ...]:
        verb, _, rest = phrase.partition(" ")
        if not rest or rest.startswith(("en ", "de ")):
            return ()
        return tuple(f"{other} {rest}" for other in _SYNONYMS.get(verb, ()))

    def cue_of(self, description: str) -> str:
        if _YES_NO.search(description):
            return ""
        clause = _HEAD.sub("", _END.split(description.strip(), maxsplit=1)[0].strip())
        if not 1 <= len(clause.split()) <= _LONGEST_CUE or any(character.isdigit() for character in clause):
            return ""
        return clause[0].lower() + clause[1:]

    def is_plural(self, called: str) -> bool:
        """Whether the first noun of a phrase stands in the plural."""
        head = (called.lower().split() or [""])[0]
        return head.endswith("s") and not head.endswith("is") and head not in _NOT_PLURAL

    def in_number(self, shape: str, called: str) -> str:
        """A shape in which articles, demonstratives and verbs agree with what stands for `{c}`; an hour is "a las siete"."""
        feminine, plural = _is_feminine(called), self.is_plural(called)
        shape = _DEMONSTRATIVE.sub(lambda one: _DEMONSTRATIVES[one[1]][2 * plural + feminine] + " ", shape)
        if plural:
            for one, many in _IN_PLURAL:
                shape = shape.replace(one, many)
        if called.lower().split()[-1:] == ["hora"] or re.match(r"(?:nueva )?hora\b", called.lower()):
            shape = _OF_HOURS.sub(r"\g<verb> a {v}", shape)
        article = _ARTICLES[feminine, plural]
        led = {"el": article, "El": article.capitalize(), "del": f"de {article}", "al": f"a {article}"}
        if article == "el":
            led |= {"del": "del", "al": "al"}
        return _ARTICLE_OF_CUE.sub(lambda one: f"{led[one['lead']]} {{c}}", shape)


def _value(stated: str) -> int:
    """The number that words are, scale by scale: "mil" alone is one thousand."""
    for pattern, scale in _SCALES:
        if match := pattern.search(stated):
            return (_value(stated[: match.start()]) or 1) * scale + _value(stated[match.end() :])
    return sum(_VALUES[word] for word in stated.split() if word != "y")


def _clock(match: re.Match[str], text: str) -> ClockReading | None:
    stated = match["part"] or match["half_day"]
    hour = _number(match["h1"] or match["h2"])
    if match["h1"]:
        # 7.30 is a number, las 7.30 is a time
        is_time, minutes = match["article"] or stated or text[match.end("h1")] != ".", int(match["n1"])
    else:
        is_led = match["article"] and (match["way"] or _CLOCK_ENDS.match(text, match.end()))
        is_time, minutes = (
            stated or match["sharp"] or is_led,
            _ROUND.get(match["n2"] or "") or _number(match["n2"] or "0"),
        )
    if not is_time:
        return None
    if match["way"] == "menos":
        hour, minutes = (_NOON if hour == 1 else hour - 1), 60 - minutes
    parts = {"manana": "morning", "noche": "night", "madrugada": "small hours", "mediodia": "noon"}
    part = f"{match['half_day']}m" if match["half_day"] else parts.get(match["part"] or "", "")
    if match["part"] == "tarde":
        part = "afternoon" if hour <= _LAST_AFTERNOON or hour == _NOON else "evening"
    return ClockReading(*match.span(), hour, minutes, part)


def _number(stated: str) -> int:
    return int(stated) if stated.isdecimal() else _BELOW_SIXTY.get(stated, 0)


def _is_feminine(called: str) -> bool:
    """Whether the first noun of a phrase is feminine: ciudad, fecha de salida, nueva hora."""
    head = (called.lower().split() or [""])[0]
    is_plural = head.endswith("s") and not head.endswith("is") and head not in _NOT_PLURAL
    word = head.removesuffix("s") if is_plural else head
    return word not in _MASCULINE_WORDS and (word in _FEMININE_WORDS or _FEMININE.search(word) is not None)
