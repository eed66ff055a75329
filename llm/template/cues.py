"""What people call a parameter: phrases from its name and description, in English and Chinese."""

import re
from functools import lru_cache
from typing import NamedTuple

from llm.template.names import humanise, is_chinese, split_name
from llm.template.word_lists import words

_MOST_WORDS = 4
_PLAIN_WORDS = 2
_LONGEST_ABBREVIATION = 4
_MOST_CHARACTERS = 8
_CLAUSE = re.compile(
    r"[.,;:(（，。；：!?？、\n]|\s-\s|默认|例如|[Dd]efaults?\b|比如|\b(?:e\.g|i\.e|such as|like|default|defaults)\b|，?如(?!何|果)"
)
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
_CHINESE_HEAD = re.compile("^(?:用户的?|用户要|要|需要|想要|具体的?|指定的?|请?输入|当前的?|被|对应的?|目标)")
_YES_NO = re.compile(
    r"^(?:a )?(?:boolean|flag)?\s*(?:indicat\w+|specif\w+)?\s*(?:whether|if|set to true|true)\b|^(?:enable|turn on|allow)\b|^是否",
    re.IGNORECASE,
)
_PARAMETRIC = frozenset(words("id string number integer boolean value parameter field object array list"))


class Cues(NamedTuple):
    """How to call a parameter when speaking of it, and all phrases by which it is recognised."""

    english: str
    chinese: str
    spoken: tuple[str, ...]


@lru_cache(16384)
def cues_of(name: str, description: str) -> Cues:
    """The cues of a parameter; the name is always one, the description's head noun where it has a short one."""
    named = humanise(name)
    told = _chinese_head(description) if is_chinese(description) else _english_head(description)
    by_name = re.search("[\u4e00-\u9fff]+", name)
    chinese = told if told and is_chinese(told) else by_name.group() if by_name else ""
    english = told if told and not is_chinese(told) else named
    return Cues(english, chinese or english, tuple(dict.fromkeys(filter(None, (english, named, chinese)))))


def short_forms(name: str) -> tuple[str, ...]:
    """Other short ways to speak of a parameter: its last word, and a code without its "ID" or "number"."""
    words = split_name(name)
    if len(words) == 1:
        return ()
    if words[-1] in ("id", "ids", "number", "no", "code"):
        lead = humanise("_".join(words[:-1]))
        return (f"{lead} ID", f"{lead} number", f"{lead} code", lead, "ID" if words[-1] == "id" else words[-1])
    return (humanise(words[-1]),)


def _english_head(description: str) -> str:
    if _YES_NO.search(description):
        return ""
    clause = _CLAUSE.split(description.strip(), maxsplit=1)[0].strip()
    head = _HEAD.sub("", _HEAD.sub("", clause))
    if len(head.split()) > _PLAIN_WORDS:
        head = _TAIL.sub("", head)
    head = " ".join(humanise(word) if _CAMEL.search(word) else word for word in head.split())
    words = head.split()
    if not 1 <= len(words) <= _MOST_WORDS or any(character.isdigit() for character in head):
        return ""
    if words[-1].lower() in _PARAMETRIC and len(words) == 1:
        return ""
    return (
        head
        if any(word.isupper() and len(word) <= _LONGEST_ABBREVIATION for word in words)
        else head[0].lower() + head[1:]
    )


def _chinese_head(description: str) -> str:
    if _YES_NO.search(description):
        return ""
    clause = _CLAUSE.split(description.strip(), maxsplit=1)[0].strip()
    head = _CHINESE_HEAD.sub("", clause)
    return head if is_chinese(head) and 1 < len(head) <= _MOST_CHARACTERS else ""
