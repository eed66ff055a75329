"""What an English description says: the action in the imperative, and the noun phrase that people call a parameter by."""

import re
from functools import cache

from callwright.language.names import humanise, split_name, with_article, words
from callwright.language.packs import packaged

_MOST_WORDS = 14
_ADVERB_WORDS = 2
_FRAME = re.compile(
    r"^(?:this\s+(?:tool|function|api|endpoint|method)\s+|(?:tool|function|api|endpoint)\s+(?:to|for|that)\s+|used?\s+(?:to|for)\s+"
    r"|(?:allows?|helps?)\s+(?:you|users?|the user)?\s*(?:to\s+)?"
    r"|(?:enables?|lets?)\s+(?:(?:you|users?|the user)\s+(?:to\s+)?|to\s+)|it\s+)+",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^.*?\b(?:tool|function|api|method) description:\s*", re.IGNORECASE | re.DOTALL)
_OF_TOOL = re.compile(r"^(?:this|the)\s+(?:tool|function|api|endpoint|method)\s+\w+s\b|^it\s+\w+s\b", re.IGNORECASE)
_OF_ME = re.compile(r"\bthe (\w+(?: \w+)?) of (?:the )?(?:currently )?me\b")
_FOR_BARE = re.compile(r" for (?!the\b|an?\b|my\b|me\b)([a-z]+(?: [a-z]+)?(?<!s))$")
_FOR_USER = re.compile(r" for (?:the )?(?:current )?user$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_ME_OUT = re.compile(r"^(log|sign) (in|out) me\b")
_END = re.compile(
    r"[.;:(（\n!]|\s(?:identified|which|whose|sorted by|if called)\b|\s-\s"
    r"|,\s|,?\s+(?:by (?:using|specif|providing|their|its|condition|various|multiple)\w*|based on|given"
    r"|according to|using (?:a|the|its|their)|such as|including|e\.g|i\.e|via|with the (?:given|specified|provided))\b"
)
_TRIM = re.compile(r"\b(?:specified|specific|given|provided|particular|certain|designated|existing)\s+", re.IGNORECASE)
_GIVEN = re.compile(r"\b(an?|the)\s+given\s+", re.IGNORECASE)
_MOMENT_TAIL = re.compile(
    r"\s(?:for|on|at|in|within|during)\s+(?:an?|the)\s+(?:specified|specific|given|particular|certain)\s+"
    r"(?:(?:start|end|billing)\s+)?(?:date|time|day|week|month|year|period|range)\b[\w\s]*$",
    re.IGNORECASE,
)
_ME = re.compile(r"\b(?:the|a) user(?=$|\s(?:to|from|for|in|on|with|by|of|about)\b)", re.IGNORECASE)
_TWO_ADJECTIVES = re.compile(r"\b(an?)\s(\w+),\s(?=\w+\s(?!and\b|or\b)\w)")
_SECOND_VERB = re.compile(r"\b(and|or) (\w+s)(?=\s+(?:it|them|the|an?|my)\b)")
_AN = re.compile(r"\ba(?=\s+(?:[aeiou]|[AEIO][A-Z]))(?!\s+(?:u[snk]|one|eu))")
_A = re.compile(r"\ban(?=\s+(?:[bcdfgjklmnpqrstvwz]|h(?!our|onest|eir|ono)))")
_ASIDE = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_DANGLING = re.compile(r"\s+(?:a|an|the|of|for|to|with|and|or|by|in|on|at|from)$")
_POSSESSIVE = re.compile(
    r"\b(?:the |a |an )?(?:(?:authenticated|current|logged.in) (?:\w+ )?)?(?:users?|customer|client)(?:'s|’s|'|’)\s+",
    re.IGNORECASE,
)
_THE_USER = re.compile(
    r"\b(?:the )?(?:authenticated|current|logged.in) (?:\w+ )?user(?=$|\s(?:to|from|for|in|on|with|by|of|about|is|has)\b)",
    re.IGNORECASE,
)
_YOUR = re.compile(r"\byour\b", re.IGNORECASE)
_LONG = 9
_LOOSE_END = re.compile(
    r"(?<!associated)(?<!compatible)\s(?:with|using|without|simultaneously|or (?:ensure|completely)|in a single|and their"
    r"|across)\b.*$"
)
_SLASH = re.compile(r"\b(\w+)/\w+\b")
_IRREGULAR = {"goes": "go", "does": "do", "has": "have"}
_NOUN_LEAD = "get "
_FINITE = re.compile(r"\b(?:is|are|was|were|can|will|must|should|may|be|have)\b", re.IGNORECASE)
_GIVEN_BACK = {"returns": "get", "lists": "list", "gets": "get"}
_DETERMINERS = frozenset({"a", "an", "the", "my", "your", "all", "one"})
_PATH = re.compile(r"[./:]")
_BY = re.compile(r"\s+(?:by|using|via|with)\s+.*$")
_BY_KEY = re.compile(
    r"(?:\s+resource)?(?:\s+(?:by|using)\s+(?:an? |its |their |the )?"
    r"(?:id|identifier|(?:user |tag )?name|username|uuid|key|slug|number|status|tags?))?$",
    re.IGNORECASE,
)
_LIST_OF = re.compile(r"^(\w+) list of\b")
_OPTIONS = re.compile(r"\s+with (?:filtering|optional|form)\b.*$")
_MOST_TELEGRAPHIC = 4
_TELEGRAPHIC = frozenset(words("add reprioritize get find delete update show retrieve remove create view"))
_AT_END = re.compile(r"\b(to|in|from|into|of) ((?!the\b|an?\b|my\b)[a-z]+(?: [a-z]+)?)$")
_MOST_BARE = 4
_PREPOSITIONS = frozenset(words("nearby of for in on to from by with at about into as"))
_MAKING = frozenset(
    words("create add post make open start book schedule register write draft generate submit place send")
)
_NOT_AFTER = frozenset({"whether", "if", "how", "that"})


@cache
def verbs() -> frozenset[str]:
    """Verbs that a description begins with."""
    return _listed("verbs")


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(packaged("callwright.language.en", "descriptions.yaml")[name].split())


def action_of(name: str, description: str) -> str:
    """What to ask of the tool in the imperative, "" where the description says nothing short."""
    return _english(name, description)


def other_actions(phrase: str) -> tuple[str, ...]:
    """The same action with other verbs."""
    verb, _, rest = phrase.partition(" ")
    if rest.startswith("for ") and verb == "search":
        verb, rest = "search for", rest.removeprefix("for ")
    if not rest or rest.split(" ")[0] in _NOT_AFTER or rest.startswith(("and ", "me ")):
        return ()
    return tuple(
        f"{other} {rest}" for other in packaged("callwright.language.en", "descriptions.yaml")["synonyms"].get(verb, ())
    )


def action_of_name(name: str) -> str:
    """A tool's name as words, in the imperative where it begins with a verb."""
    last = _FOR_BARE.sub(r" for the \1", _FOR_USER.sub(" for me", _BY.sub("", humanise(_PATH.split(name)[-1] or name))))
    first, _, rest = last.partition(" ")
    if (
        first not in verbs() and rest.partition(" ")[0] in verbs()
    ):  # "slack list channels": the server's name comes first
        first, _, rest = rest.partition(" ")
    if first == "list" and rest and " for " not in rest:
        return f"list {_all(rest)}"
    return with_articles(f"{first} {rest}".strip()) if first in verbs() else f"{_NOUN_LEAD}{last}"


def _all(noun: str) -> str:
    """A noun in the plural: "phone number" is "phone numbers"."""
    if noun.rsplit(" ", maxsplit=1)[-1].lower() in _listed("mass") or noun.endswith(("s", "x", "ch", "sh")):
        return noun
    return f"{noun[:-1]}ies" if _CONSONANT_Y.search(noun) else f"{noun}s"


def with_articles(phrase: str) -> str:
    """A command with an article before a bare noun in the singular: "get album" is "get the album"."""
    verb, _, rest = phrase.partition(" ")
    if verb == "search" and rest.startswith("for "):
        verb, rest = "search for", rest.removeprefix("for ")
    words = rest.split(" ")
    bare = next((at for at, word in enumerate(words) if word in _PREPOSITIONS), len(words))
    head = words[bare - 1]
    is_bare = (
        rest
        and words[0].lower() not in _DETERMINERS | _PREPOSITIONS | _listed("no_article")
        and 1 <= bare <= _MOST_BARE
    )
    if is_bare and words[0].endswith(("'s", "’s")) and words[0].islower():
        return f"{verb} the {rest}"
    if not is_bare or head.lower() in _listed("mass") or (head.endswith("s") and not head.endswith("ss")):
        return phrase
    if verb in _MAKING or verb == "search for":
        return f"{verb} {with_article(rest)}"
    return f"{verb} the {rest}"


def _is_title(clause: str) -> bool:
    """Whether a clause is written as a title, every word but the small ones with a capital."""
    return sum(word[:1].isupper() for word in clause.split()) > len(clause.split()) / 2


def _english(name: str, description: str) -> str:
    stated = _LABEL.sub("", _ASIDE.sub("", description)).strip()
    text = _GIVEN.sub(r"\1 specific ", _FRAME.sub("", stated))
    text = _TWO_ADJECTIVES.sub(r"\1 \2 ", text)
    clause = _END.split(text, maxsplit=1)[0].strip(" ,'\"")
    is_title, own = _is_title(clause), frozenset(split_name(_PATH.split(name)[-1]))
    clause = _LIST_OF.sub(r"\1 the list of", _BY_KEY.sub("", _OPTIONS.sub("", clause)))
    clause = _YOUR.sub("my", _TRIM.sub("", _MOMENT_TAIL.sub("", clause)))
    if len(clause.split()) > _LONG:
        clause = _LOOSE_END.sub("", clause)
    clause = _THE_USER.sub("me", _POSSESSIVE.sub("my ", _SLASH.sub(r"\1", clause)))
    clause = re.sub(r"\s+", " ", _ME.sub("me", clause))
    clause = _DANGLING.sub("", _AN.sub("an", _A.sub("a", clause)))
    words = [
        word.lower() if index and (is_title or word.lower() in own) and word[1:].islower() else word
        for index, word in enumerate(clause.split(" "))
    ]
    if not words or not words[0] or len(words) > _MOST_WORDS:
        return ""
    verb = _GIVEN_BACK.get(words[0].lower()) or _imperative(words[0].lower()) or _rendered_verb(words, name)
    if verb:
        rest = " ".join(words[1:])
        rest = rest if words[0].lower() == verb else _SECOND_VERB.sub(_second_verb, rest)
        phrase = _OF_ME.sub(r"my \1", _ME_OUT.sub(r"\1 me \2", f"{verb} {rest}".strip()))
        if is_title:
            return _AT_END.sub(_the_end, with_articles(phrase))
        is_bare = verb in _TELEGRAPHIC and len(words) <= _MOST_TELEGRAPHIC and _PREPOSITIONS.isdisjoint(words)
        return with_articles(phrase) if is_bare else phrase
    if len(words) > _ADVERB_WORDS and words[0].lower().endswith("ly") and _imperative(words[1].lower()):
        return " ".join((_imperative(words[1].lower()), *words[2:]))
    if _FINITE.search(clause) or _OF_TOOL.match(stated):  # what the tool is, and not what it does
        return ""
    return f"{_NOUN_LEAD}{words[0].lower() if not words[0].isupper() else words[0]} {' '.join(words[1:])}".strip()


def _the_end(match: re.Match[str]) -> str:
    """A bare noun at the end of a title with its article: "to playlist" is "to the playlist"."""
    last = match[2].split(" ")[-1]
    return (
        match[0]
        if last in _listed("mass") or (last.endswith("s") and not last.endswith("ss"))
        else f"{match[1]} the {match[2]}"
    )


def _second_verb(match: re.Match[str]) -> str:
    """A second verb of the sentence in the imperative as well: "and blocks it" is "and block it"."""
    return f"{match[1]} {_imperative(match[2]) or match[2]}"


def _rendered_verb(words: list[str], name: str) -> str:
    """An unlisted verb: the tool's name begins with it, or an article follows it."""
    first = words[0].lower()
    own = split_name(_PATH.split(name)[-1])
    if own and first in (f"{own[0]}s", f"{own[0]}es"):
        return own[0]
    is_verb = (own and own[0] == first) or (len(words) > 1 and words[1].lower() in _DETERMINERS)
    return _bare(first) if is_verb and first not in _DETERMINERS else ""


def _bare(verb: str) -> str:
    """An unlisted verb without the s of the third person: "encapsulates" is "encapsulate"."""
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _imperative(word: str) -> str:
    if word in verbs():
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e")):
        if word.endswith(ending) and word[: -len(ending)] + instead in verbs():
            return word[: -len(ending)] + instead
    return ""


_LONGEST_HEAD = 4
_PLAIN_WORDS = 2
_LONGEST_ABBREVIATION = 4
_CLAUSE = re.compile(r"[.,;:(（，。；：!?？、\n]|\s-\s|[Dd]efaults?\b|\b(?:e\.g|i\.e|such as|like|default|defaults)\b")
_CAMEL = re.compile(r"^[a-z]+[A-Z]\w+$")  # a name as code has it
_HEAD = re.compile(
    r"^(?:the|an?|your|user's|name of the|specific|specified|desired|requested|required|given|target|\*)\s+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s+(?:to|that|which|for|in|on|of the (?:user|request|booking|reservation|order)|by|at|from|when|where|as|if|is|are"
    r"|we|you|should|must|will|can|being|used|required|optional|with|between|to be)\b.*$",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^(?:a )?(?:boolean|flag)?\s*(?:indicat\w+|specif\w+)?\s*(?:whether|if|set to true|true)\b|^(?:enable|turn on|allow)\b",
    re.IGNORECASE,
)
_PARAMETRIC = frozenset(words("id string number integer boolean value parameter field object array list"))
_TYPES = frozenset(words("string integer boolean"))  # what code calls a value, whatever stands before it
_ID_OF = re.compile(r"^id of (?:the )?([\w-]+)$", re.IGNORECASE)
_CAPITAL = re.compile(r"^[A-Z][a-z]+\b|\b(?:Status|Name|Type|Number|Date)\b")
_LAST_ID = re.compile(r"\bid$")
_COUNTED = re.compile(
    r"^(?:comma[- ]separated |json |single item )?(?:lists?|arrays?|sets?) (?:containing |of (?:the )?)", re.IGNORECASE
)
_MARKED = re.compile(r"[`*<>{}\[\]|/\\_=#]")
_DANGLES = frozenset(words("of the a an against without to for or and in on at by with from"))


def cue_of(description: str) -> str:
    """The noun phrase that people call a parameter by, "" where the description has none that is short."""
    if _YES_NO.search(description):
        return ""
    clause = _CLAUSE.split(description.strip(), maxsplit=1)[0].strip()
    head = _COUNTED.sub("", _HEAD.sub("", _HEAD.sub("", clause)))
    if len(head.split()) > _PLAIN_WORDS:
        head = _TAIL.sub("", head)
    head = " ".join(humanise(word) if _CAMEL.search(word) else word for word in head.split())
    head = _CAPITAL.sub(lambda word: word[0].lower(), _LAST_ID.sub("ID", _ID_OF.sub(r"\1 ID", head)))
    words = head.split()
    if not 1 <= len(words) <= _LONGEST_HEAD or any(character.isdigit() for character in head):
        return ""
    if (len(words) == 1 and words[-1].lower() in _PARAMETRIC) or words[-1].lower() in _TYPES or _MARKED.search(head):
        return ""
    if words[0].lower() in _listed("no_noun") or words[-1].lower() in _DANGLES:
        return ""
    return (
        head
        if any(word.isupper() and len(word) <= _LONGEST_ABBREVIATION for word in words)
        else head[0].lower() + head[1:]
    )
