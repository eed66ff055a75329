"""What an English description says: the action in the imperative, and the noun phrase that people call a parameter by."""

import re

from language.names import humanise, split_name, words

_MOST_WORDS = 14
_ADVERB_WORDS = 2
VERBS = frozenset(
    words(
        "accept access activate add adjust allow amend analyze answer append apply appoint approve archive"
        " arrange assign attach authorize block book borrow browse build buy calculate call cancel change charge"
        " check choose claim clear close collect combine compare complain complete compose compute confirm"
        " connect contact control convert copy count create deactivate declare decline decrease delete deliver"
        " deposit describe detect determine disable discover dispatch display download draft draw edit enable end"
        " enroll enter escalate estimate evaluate exchange execute export extend extract fetch file fill filter"
        " find finish follow forecast forward freeze generate get give grant group hide hire identify import"
        " increase initiate insert inspect install invite issue join launch leave like list listen load locate"
        " lock log look lookup make manage mark match measure merge mix modify monitor move mute unmute navigate"
        " punch reduce lend rewind notify obtain offer open order organize pause pay perform pick pin plan play"
        " post predict prepare preview print process provide publish purchase query quote raise rate read receive"
        " recommend record redeem refill refund register reject release remind remove rename renew rent reorder"
        " repair replace reply report request reschedule reserve reset resolve respond restart restore resume"
        " retrieve return review revoke rotate run save scan schedule search see select sell send set settle"
        " share ship show shuffle sign skip solve sort split start stop store stream submit subscribe suggest"
        " summarize switch sync take tell terminate test throw tip top track transfer translate trigger turn"
        " unblock uncover undo unlock unsubscribe update upgrade upload use protect hear print rebook shorten"
        " lengthen park charge refuel swap trade cut crop resize hang dial text email chat pin unpin star flag"
        " invite cook bake count drop ask explain teach read compose wake snooze silence dim brighten lower raise"
        " heat cool warm wash dry vacuum fix mend collect fetch feed validate verify view vote watch water"
        " withdraw write admit discharge link unlink proceed unregister activate reactivate pull hand"
    )
)
_FRAME = re.compile(
    r"^(?:this\s+(?:tool|function|api|endpoint|method)\s+|(?:tool|function|api|endpoint)\s+(?:to|for|that)\s+|used?\s+(?:to|for)\s+"
    r"|(?:allows?|helps?)\s+(?:you|users?|the user)?\s*(?:to\s+)?"
    r"|(?:enables?|lets?)\s+(?:(?:you|users?|the user)\s+(?:to\s+)?|to\s+)|it\s+)+",
    re.IGNORECASE,
)
_END = re.compile(
    r"[.;:(（\n!]|,\s|,?\s+(?:by (?:using|specif|providing|their|its|condition|various|multiple)\w*|based on|given"
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
_SECOND_VERB = re.compile(r"\band (\w+s)(?=\s+(?:it|them|the|an?|my)\b)")
_AN = re.compile(r"\ba(?=\s+(?:[aeiou]|[AEIO][A-Z]))(?!\s+(?:u[snk]|one|eu))")
_A = re.compile(r"\ban(?=\s+(?:[bcdfgjklmnpqrstvwz]|h(?!our|onest|eir|ono)))")
_ASIDE = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_DANGLING = re.compile(r"\s+(?:a|an|the|of|for|to|with|and|or|by|in|on|at|from)$")
_POSSESSIVE = re.compile(r"\b(?:the |a )?(?:user|customer|client)(?:'s|’s)\s+", re.IGNORECASE)
_IRREGULAR = {"goes": "go", "does": "do", "has": "have"}
_NOUN_LEAD = "get "
_SYNONYMS = {
    "retrieve": ("get", "look up", "pull up", "show me"), "get": ("find", "look up", "show me"),
    "query": ("check", "look up"), "view": ("show me", "open"), "list": ("show me",), "find": ("get me",),
    "create": ("set up", "make"), "update": ("change",), "modify": ("change",), "cancel": ("call off",),
    "delete": ("remove",), "remove": ("delete",), "book": ("reserve",), "reserve": ("book",), "purchase": ("buy",),
    "buy": ("purchase",), "check": ("look up",), "schedule": ("plan", "set up"), "submit": ("hand in", "file"),
    "calculate": ("work out",), "terminate": ("end",), "initiate": ("start",), "start": ("begin",), "show": ("show me",),
    "recommend": ("suggest",), "obtain": ("get",), "search for": ("look for", "find"),
}  # fmt: skip
_DETERMINERS = frozenset({"a", "an", "the", "my", "your", "all", "one"})
_PATH = re.compile(r"[./:]")
_NOT_AFTER = frozenset({"whether", "if", "how", "that"})


def action_of(name: str, description: str) -> str:
    """What to ask of the tool in the imperative, "" where the description says nothing short."""
    return _english(name, description)


def other_actions(phrase: str) -> tuple[str, ...]:
    """The same action with other verbs."""
    verb, _, rest = phrase.partition(" ")
    if rest.startswith("for ") and verb == "search":
        verb, rest = "search for", rest.removeprefix("for ")
    if not rest or rest.split(" ")[0] in _NOT_AFTER or rest.startswith("me "):
        return ()
    return tuple(f"{other} {rest}" for other in _SYNONYMS.get(verb, ()))


def action_of_name(name: str) -> str:
    """A tool's name as words, in the imperative where it begins with a verb."""
    last = _PATH.split(name)[-1] or name
    words = split_name(last)
    stated = humanise(last)
    return stated if words and words[0] in VERBS else f"{_NOUN_LEAD}{stated}"


def _english(name: str, description: str) -> str:
    text = _GIVEN.sub(r"\1 specific ", _FRAME.sub("", _ASIDE.sub("", description).strip()))
    text = _TWO_ADJECTIVES.sub(r"\1 \2 ", text)
    clause = _END.split(text, maxsplit=1)[0].strip(" ,'\"")
    clause = _TRIM.sub("", _MOMENT_TAIL.sub("", clause))
    clause = re.sub(r"\s+", " ", _ME.sub("me", _POSSESSIVE.sub("my ", clause)))
    clause = _DANGLING.sub("", _AN.sub("an", _A.sub("a", clause)))
    words = [
        word.lower() if word[1:].islower() and index and clause.istitle() else word
        for index, word in enumerate(clause.split(" "))
    ]
    if not words or not words[0] or len(words) > _MOST_WORDS:
        return ""
    verb = _imperative(words[0].lower()) or _rendered_verb(words, name)
    if verb:
        rest = " ".join(words[1:])
        return f"{verb} {rest if words[0].lower() == verb else _SECOND_VERB.sub(_second_verb, rest)}".strip()
    if len(words) > _ADVERB_WORDS and words[0].lower().endswith("ly") and _imperative(words[1].lower()):
        return " ".join((_imperative(words[1].lower()), *words[2:]))
    return f"{_NOUN_LEAD}{words[0].lower() if not words[0].isupper() else words[0]} {' '.join(words[1:])}".strip()


def _second_verb(match: re.Match[str]) -> str:
    """A second verb of the sentence in the imperative as well: "and blocks it" is "and block it"."""
    return f"and {_imperative(match[1]) or match[1]}"


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
    if word in VERBS:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e")):
        if word.endswith(ending) and word[: -len(ending)] + instead in VERBS:
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
    r"|should|must|will|can|being|used|required|optional|with|between|to be)\b.*$",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^(?:a )?(?:boolean|flag)?\s*(?:indicat\w+|specif\w+)?\s*(?:whether|if|set to true|true)\b|^(?:enable|turn on|allow)\b",
    re.IGNORECASE,
)
_PARAMETRIC = frozenset(words("id string number integer boolean value parameter field object array list"))


def cue_of(description: str) -> str:
    """The noun phrase that people call a parameter by, "" where the description has none that is short."""
    if _YES_NO.search(description):
        return ""
    clause = _CLAUSE.split(description.strip(), maxsplit=1)[0].strip()
    head = _HEAD.sub("", _HEAD.sub("", clause))
    if len(head.split()) > _PLAIN_WORDS:
        head = _TAIL.sub("", head)
    head = " ".join(humanise(word) if _CAMEL.search(word) else word for word in head.split())
    words = head.split()
    if not 1 <= len(words) <= _LONGEST_HEAD or any(character.isdigit() for character in head):
        return ""
    if words[-1].lower() in _PARAMETRIC and len(words) == 1:
        return ""
    return (
        head
        if any(word.isupper() and len(word) <= _LONGEST_ABBREVIATION for word in words)
        else head[0].lower() + head[1:]
    )
