"""What a tool does, as a person asks for it: an imperative phrase from its description, else from its name."""

import re
from functools import lru_cache

from language.names import humanise, is_chinese, split_name, words

_MOST_WORDS = 14
_MOST_CHARACTERS = 26
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
_CHINESE_END = re.compile("[。；;！!？?\n（(，,：:]|例如|比如|以便|用于")
_CHINESE_FRAME = re.compile(
    "^(?:该|此|本)?(?:工具|接口|函数|功能)?(?:可以|能够|能|用于|用来|支持|提供)?(?:帮助)?(?:用户|你|您)?(?:的)?"
)
_CHINESE_LEAD = re.compile(
    "^(?:根据|按照|按|通过|依据|基于|使用|利用)[^。]*?(?=查询|搜索|获取|查看|查找|检索|筛选|推荐|计算|预订|预定|购买|设置"
    "|打开|创建|添加|删除|取消|修改|更新|发送|播放|预约|下载|上传|提交|办理)"
)
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
_CHINESE_SYNONYMS = {
    "查询": ("查一下", "查查"), "查看": ("看一下", "看看"), "搜索": ("搜一下", "找一下"), "获取": ("看一下", "拿到"),
    "查找": ("找一下",), "添加": ("加上",), "创建": ("新建",), "新建": ("创建",), "删除": ("删掉",), "预订": ("订",),
    "预定": ("订",), "购买": ("买",), "发送": ("发",), "播放": ("放",), "修改": ("改一下",), "计算": ("算一下",),
    "推荐": ("推荐一下",), "设置": ("设一下",),
}  # fmt: skip


@lru_cache(8192)
def action_phrase(name: str, description: str) -> str:
    """What to ask of the tool: "retrieve the tracking status of a shipment"; Chinese where the description is."""
    phrase = _chinese(description) if is_chinese(description) else _english(name, description)
    return phrase or _from_name(name)


@lru_cache(8192)
def action_phrases(name: str, description: str) -> tuple[str, ...]:
    """All the ways in which the action is said: as described, and with another verb for it."""
    phrase = action_phrase(name, description)
    if is_chinese(phrase):
        verb = next((verb for verb in _CHINESE_SYNONYMS if phrase.startswith(verb)), "")
        others = _CHINESE_SYNONYMS.get(verb, ())
        return (phrase, *(other + phrase[len(verb) :] for other in others))
    verb, _, rest = phrase.partition(" ")
    if rest.startswith("for ") and verb == "search":
        verb, rest = "search for", rest.removeprefix("for ")
    if not rest or rest.split(" ")[0] in _NOT_AFTER or rest.startswith("me "):
        return (phrase,)
    return (phrase, *(f"{other} {rest}" for other in _SYNONYMS.get(verb, ())))


@lru_cache(8192)
def name_phrase(name: str) -> str:
    """The tool's name as words, in the imperative where it begins with a verb."""
    return _from_name(name)


def _from_name(name: str) -> str:
    last = _PATH.split(name)[-1] or name
    words = split_name(last)
    said = humanise(last)
    return said if words and words[0] in VERBS else f"{_NOUN_LEAD}{said}"


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
    verb = _imperative(words[0].lower()) or _told_verb(words, name)
    if verb:
        rest = " ".join(words[1:])
        return f"{verb} {rest if words[0].lower() == verb else _SECOND_VERB.sub(_second_verb, rest)}".strip()
    if len(words) > _ADVERB_WORDS and words[0].lower().endswith("ly") and _imperative(words[1].lower()):
        return " ".join((_imperative(words[1].lower()), *words[2:]))
    return f"{_NOUN_LEAD}{words[0].lower() if not words[0].isupper() else words[0]} {' '.join(words[1:])}".strip()


def _second_verb(match: re.Match[str]) -> str:
    """A second verb of the sentence in the imperative as well: "and blocks it" is "and block it"."""
    return f"and {_imperative(match[1]) or match[1]}"


def _told_verb(words: list[str], name: str) -> str:
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


def _chinese(description: str) -> str:
    text = _CHINESE_FRAME.sub("", _ASIDE.sub("", description).strip())
    text = _CHINESE_LEAD.sub("", text)
    clause = _CHINESE_END.split(text, maxsplit=1)[0].strip()
    clause = re.sub("用户的?", "我的", clause)
    clause = re.sub("(?:指定|特定|相关|所有)的?", "", clause)
    return clause if is_chinese(clause) and len(clause) <= _MOST_CHARACTERS else ""
