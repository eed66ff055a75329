"""Gender and number of what parameters are called, and the shapes of sentences that agree with them."""

import re

from callwright.language.names import words

_FEMININE = re.compile(r"(?:a|ción|sión|dad|tad|tud|umbre)$")
_FEMININE_WORDS = frozenset(words("noche clase llave tarde calle sede imagen luz voz señal mano foto base"))
_MASCULINE_WORDS = frozenset(words("día mapa idioma problema programa tema sistema clima poema planeta"))
_NOT_PLURAL = frozenset(words("mes autobús interés lunes martes miércoles jueves viernes gas país cumpleaños paraguas"))
_ARTICLES = {(False, False): "el", (True, False): "la", (False, True): "los", (True, True): "las"}
_ARTICLE = re.compile(r"\b(?P<lead>[Ee]l|del|al) (?P<called>\{c\})")
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


def is_feminine(called: str) -> bool:
    """Whether the first noun of a phrase is feminine: ciudad, fecha de salida, nueva hora."""
    head = (called.lower().split() or [""])[0]
    word = head.removesuffix("s") if is_plural(called) else head
    if word in _MASCULINE_WORDS:
        return False
    return word in _FEMININE_WORDS or _FEMININE.search(word) is not None


def is_plural(called: str) -> bool:
    """Whether the first noun of a phrase stands in the plural."""
    head = (called.lower().split() or [""])[0]
    return head.endswith("s") and not head.endswith("is") and head not in _NOT_PLURAL


def agree(shape: str, called: str) -> str:
    """A shape in which articles, demonstratives and verbs agree with what stands for `{c}`; an hour is "a las siete"."""
    feminine, plural = is_feminine(called), is_plural(called)
    shape = _DEMONSTRATIVE.sub(lambda one: _DEMONSTRATIVES[one[1]][2 * plural + feminine] + " ", shape)
    if plural:
        for one, many in _IN_PLURAL:
            shape = shape.replace(one, many)
    if called.lower().split()[-1:] == ["hora"] or re.match(r"(?:nueva )?hora\b", called.lower()):
        shape = _OF_HOURS.sub(r"\g<verb> a {v}", shape)
    return _ARTICLE.sub(lambda one: _contracted(one["lead"], _ARTICLES[feminine, plural]) + " {c}", shape)


def _contracted(lead: str, article: str) -> str:
    if lead in ("El", "el"):
        return article.capitalize() if lead == "El" else article
    if article == "el":
        return lead
    return f"{'de' if lead == 'del' else 'a'} {article}"
