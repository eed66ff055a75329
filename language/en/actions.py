"""What an English description says: the action in the imperative, and the noun phrase that people call a parameter by."""

import re
from functools import cache

from callwright.language.names import humanise, split_name, with_article, words
from callwright.language.packs import packaged
from callwright.language.protocol import LanguageRules

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
    r"\.(?!\d)|[;:(（\n!]|\s(?:identified|which|whose|sorted by|if called)\b|\s-\s"
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

_LONGEST_HEAD = 4
_PLAIN_WORDS = 2
_LONGEST_ABBREVIATION = 4
_CUE_END = re.compile(r"[.,;:(（，。；：!?？、\n]|\s-\s|[Dd]efaults?\b|\b(?:e\.g|i\.e|such as|like|default|defaults)\b")
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


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(packaged("callwright.language.en", "descriptions.yaml")[name].split())


class Actions(LanguageRules):
    """What descriptions and names of tools and parameters say in English."""

    def action_of(self, name: str, description: str) -> str:
        """What to ask of the tool in the imperative, "" where the description says nothing short."""
        stated = _LABEL.sub("", _ASIDE.sub("", description)).strip()
        text = _TWO_ADJECTIVES.sub(r"\1 \2 ", _GIVEN.sub(r"\1 specific ", _FRAME.sub("", stated)))
        clause = _END.split(text, maxsplit=1)[0].strip(" ,'\"")
        # a title has every word but the small ones with a capital
        is_title = sum(word[:1].isupper() for word in clause.split()) > len(clause.split()) / 2
        own = frozenset(split_name(_PATH.split(name)[-1]))
        clause = _plain(clause)
        words = [
            word.lower() if index and (is_title or word.lower() in own) and word[1:].islower() else word
            for index, word in enumerate(clause.split(" "))
        ]
        if not words or not words[0] or len(words) > _MOST_WORDS:
            return ""
        first = words[0].lower()
        verb = _GIVEN_BACK.get(first) or _imperative(first) or _rendered_verb(words, name)
        if verb:
            return _commanded(verb, words, is_title=is_title)
        if len(words) > _ADVERB_WORDS and first.endswith("ly") and _imperative(words[1].lower()):
            return " ".join((_imperative(words[1].lower()), *words[2:]))
        if _FINITE.search(clause) or _OF_TOOL.match(stated):  # what the tool is, and not what it does
            return ""
        return f"{_NOUN_LEAD}{first if not words[0].isupper() else words[0]} {' '.join(words[1:])}".strip()

    def other_actions(self, phrase: str) -> tuple[str, ...]:
        verb, rest = _verb_and_rest(phrase)
        if not rest or rest.split(" ")[0] in _NOT_AFTER or rest.startswith(("and ", "me ")):
            return ()
        synonyms = packaged("callwright.language.en", "descriptions.yaml")["synonyms"]
        return tuple(f"{other} {rest}" for other in synonyms.get(verb, ()))

    def action_of_name(self, name: str) -> str:
        """A tool's name as words, in the imperative where it begins with a verb."""
        last = _FOR_USER.sub(" for me", _BY.sub("", humanise(_PATH.split(name)[-1] or name)))
        last = _FOR_BARE.sub(r" for the \1", last)
        first, _, rest = last.partition(" ")
        if first not in _listed("verbs") and rest.partition(" ")[0] in _listed("verbs"):
            first, _, rest = rest.partition(" ")  # "slack list channels": the server's name comes first
        if first == "list" and rest and " for " not in rest:
            return f"list {_all(rest)}"
        return _with_articles(f"{first} {rest}".strip()) if first in _listed("verbs") else f"{_NOUN_LEAD}{last}"

    def cue_of(self, description: str) -> str:
        """The noun phrase that people call a parameter by, "" where the description has none that is short."""
        clause = _CUE_END.split(description.strip(), maxsplit=1)[0].strip()
        head = _COUNTED.sub("", _HEAD.sub("", _HEAD.sub("", clause)))
        if len(head.split()) > _PLAIN_WORDS:
            head = _TAIL.sub("", head)
        head = " ".join(humanise(word) if _CAMEL.search(word) else word for word in head.split())
        head = _CAPITAL.sub(lambda word: word[0].lower(), _LAST_ID.sub("ID", _ID_OF.sub(r"\1 ID", head)))
        words = head.split()
        has_digits = any(character.isdigit() for character in head)
        if _YES_NO.search(description) or has_digits or not 1 <= len(words) <= _LONGEST_HEAD:
            return ""
        last = words[-1].lower()
        is_type = last in _TYPES or (len(words) == 1 and last in _PARAMETRIC)
        if is_type or last in _DANGLES or words[0].lower() in _listed("no_noun") or _MARKED.search(head):
            return ""
        if any(word.isupper() and len(word) <= _LONGEST_ABBREVIATION for word in words):
            return head
        return head[0].lower() + head[1:]


def _plain(clause: str) -> str:
    """A clause without what tells a developer how it is done, in the words of who asks for it."""
    clause = _LIST_OF.sub(r"\1 the list of", _BY_KEY.sub("", _OPTIONS.sub("", clause)))
    clause = _YOUR.sub("my", _TRIM.sub("", _MOMENT_TAIL.sub("", clause)))
    if len(clause.split()) > _LONG:
        clause = _LOOSE_END.sub("", clause)
    clause = _THE_USER.sub("me", _POSSESSIVE.sub("my ", _SLASH.sub(r"\1", clause)))
    clause = re.sub(r"\s+", " ", _ME.sub("me", clause))
    return _DANGLING.sub("", _AN.sub("an", _A.sub("a", clause)))


def _commanded(verb: str, words: list[str], *, is_title: bool) -> str:
    """The words of a clause behind its verb in the imperative, a second verb so as well: "and blocks it" is "and block it"."""
    rest = " ".join(words[1:])
    if words[0].lower() != verb:
        rest = _SECOND_VERB.sub(lambda found: f"{found[1]} {_imperative(found[2]) or found[2]}", rest)
    phrase = _OF_ME.sub(r"my \1", _ME_OUT.sub(r"\1 me \2", f"{verb} {rest}".strip()))
    if is_title:
        # a bare noun at the end of a title takes its article: "to playlist" is "to the playlist"
        phrase = _with_articles(phrase)
        bare = _AT_END.search(phrase)
        is_bare = bare and not _has_no_article(bare[2].split(" ")[-1])
        return f"{phrase[: bare.start(2)]}the {bare[2]}" if bare and is_bare else phrase
    is_bare = verb in _TELEGRAPHIC and len(words) <= _MOST_TELEGRAPHIC and _PREPOSITIONS.isdisjoint(words)
    return _with_articles(phrase) if is_bare else phrase


def _verb_and_rest(phrase: str) -> tuple[str, str]:
    verb, _, rest = phrase.partition(" ")
    return ("search for", rest.removeprefix("for ")) if verb == "search" and rest.startswith("for ") else (verb, rest)


def _has_no_article(noun: str) -> bool:
    return noun in _listed("mass") or (noun.endswith("s") and not noun.endswith("ss"))


def _all(noun: str) -> str:
    """A noun in the plural: "phone number" is "phone numbers"."""
    if noun.rsplit(" ", maxsplit=1)[-1].lower() in _listed("mass") or noun.endswith(("s", "x", "ch", "sh")):
        return noun
    return f"{noun[:-1]}ies" if _CONSONANT_Y.search(noun) else f"{noun}s"


def _with_articles(phrase: str) -> str:
    """A command with an article before a bare noun in the singular: "get album" is "get the album"."""
    verb, rest = _verb_and_rest(phrase)
    words = rest.split(" ")
    bare = next((at for at, word in enumerate(words) if word in _PREPOSITIONS), len(words))
    is_led = words[0].lower() in _DETERMINERS | _PREPOSITIONS | _listed("no_article")
    if not rest or is_led or not 1 <= bare <= _MOST_BARE:
        return phrase
    if words[0].endswith(("'s", "’s")) and words[0].islower():
        return f"{verb} the {rest}"
    if words[bare - 1].lower() in _listed("mass") or (
        words[bare - 1].endswith("s") and not words[bare - 1].endswith("ss")
    ):
        return phrase
    return f"{verb} {with_article(rest)}" if verb in _MAKING or verb == "search for" else f"{verb} the {rest}"


def _rendered_verb(words: list[str], name: str) -> str:
    """An unlisted verb: the tool's name begins with it, or an article follows it; without the s of the third person."""
    first = words[0].lower()
    own = split_name(_PATH.split(name)[-1])
    if own and first in (f"{own[0]}s", f"{own[0]}es"):
        return own[0]
    is_verb = (own and own[0] == first) or (len(words) > 1 and words[1].lower() in _DETERMINERS)
    if not is_verb or first in _DETERMINERS:
        return ""
    if first.endswith("ies"):
        return f"{first[:-3]}y"
    if first.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return first[:-2]
    return first[:-1] if first.endswith("s") and not first.endswith("ss") else first


def _imperative(word: str) -> str:
    if word in _listed("verbs"):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e")):
        if word.endswith(ending) and word[: -len(ending)] + instead in _listed("verbs"):
            return word[: -len(ending)] + instead
    return ""
