"""Whether a conversation is about the tool that its snapshots call, told by words: the request and the questions."""

import re
from collections.abc import Collection, Sequence

from language.calls.actions import VERBS
from language.calls.choosing import is_dropped, new_request, rank_by_words
from language.calls.tools import ToolView
from language.names import split_name
from language.thesaurus import weigh_words
from validators.checks.statements import hear

_FITS = 0.8  # of the best candidate's score
_FITS_ONE = 0.5
_LIKE = 0.4
_KNOWN = 0.3
_WORD = re.compile(r"[A-Za-z]+")
_OPENER = re.compile(r"\s*(?:(?:oh,? no|hi|hey|hello|你好|劳驾|小助手)(?:[\s,，.。!！:：-]+|$))+", re.IGNORECASE)
_ASKING = re.compile(
    r"(?:can|could|would|will) you\b|i(?:'d| would)? (?:need|want|like|have|wish) to\b|please\b|help me\b|let'?s\b|let me\b"
    r"|(?:how|what|where|when|which|who|why|is|are|do|does)\b.*\?|i'?m looking\b|i(?:'d| would) like\b"
    r"|帮|请(?!问)|麻烦|我?想[要看查找知了订买听给把让]|我要(?!的)|我需要|能不能|可不可以|给我|查|看看|看一下|搜|找|打开|关[闭掉]|设[置个]|[修更]改|删"
    r"|添加|推荐|更新|收藏|播放|取消|预[订约定]|.*[吗呢么]?[?？]$|.*怎么|.*什么样|.*一下",
    re.IGNORECASE,
)


_ONE_SAID = re.compile(r"那[次个条份张单]|上次|\b(?:that|last) (?:one|time)\b", re.IGNORECASE)
_ONE_TOLD = re.compile(r"某[个次条]|指定|详情|\bdetails?\b|\b(?:a|the) (?:specific|certain|given)\b", re.IGNORECASE)


def better_tool(views: Sequence[ToolView], tool: str, arguments: Collection[str], said: Sequence[str]) -> str:
    """The candidate that request and questions speak of rather than `tool`, "" where it fits as well as any.

    Only a tool that takes all of these arguments could have been meant.
    """
    other = _done_by_another(views, tool, arguments, said[0])
    if other:
        return other
    possible = [view for view in views if view.name == tool or set(arguments) <= set(view.properties)]
    ranked = rank_by_words(possible, "\n".join(said))
    own = next((score for score, view in ranked if view.name == tool), 0.0)
    best, view = ranked[0]
    if (
        view.name == tool
    ):  # the one told to be about a single thing may be meant where another is told in the very words
        singled = (one.name for score, one in ranked[1:] if score >= _FITS_ONE * own)
        return next((name for name in singled if _is_of_one(views, name, tool, said[0])), "")
    return "" if own >= (_FITS_ONE if _is_of_one(views, tool, view.name, said[0]) else _FITS) * best else view.name


def _done_by_another(views: Sequence[ToolView], tool: str, arguments: Collection[str], request: str) -> str:
    """The tool whose name begins with what the request begins with, where nothing of this one's means that: "unmute"."""
    first = next((word.lower() for word in _WORD.findall(_OPENER.sub("", request)) if word.lower() in VERBS), "")
    own = next(view for view in views if view.name == tool)
    if not first or weigh_words(first).keys() & own.words.keys():
        return ""
    others = [one for one in views if set(arguments) <= set(one.properties)]
    return next((one.name for one in others if split_name(one.name.split(".")[-1])[0] == first), "")


def _is_of_one(views: Sequence[ToolView], tool: str, other: str, request: str) -> bool:
    """Whether the user speaks of a single one, which only the first of two tools is told to be about."""
    told = {view.name: view.description for view in views}
    is_told = _ONE_TOLD.search(told[tool]) is not None and _ONE_TOLD.search(told[other]) is None
    return is_told and _ONE_SAID.search(request) is not None


def likeness(view: ToolView, text: str, question: str) -> float:
    """How much of what a text says the tool, or the question that was asked for it, speaks of."""
    said = weigh_words(text)
    known = {**weigh_words(question), **view.words}
    total = sum(said.values())
    return sum(weight for word, weight in said.items() if known.get(word, 0.0) > _KNOWN) / total if total else 0.0


def has_turned(view: ToolView, text: str, question: str) -> bool:
    """Whether the user asks for something that is unlike the tool under way and what it asks."""
    wanted = new_request(text) or _OPENER.sub("", text).strip()
    is_dropping = is_dropped(text) or _OPENER.match(text) is not None
    shared = set(weigh_words(wanted)) & set(weigh_words(question)) & set(view.words)
    answers = any(one.outright for one in hear(view, text).statements)
    if not is_dropping and (answers or any(len(word) > 1 for word in shared)):
        return False
    return (is_dropping or is_request(wanted)) and likeness(view, wanted, question) < _LIKE


def is_request(text: str) -> bool:
    """Whether somebody asks for something to be done, rather than answers."""
    plain = _OPENER.sub("", text).strip()
    first = next(iter(_WORD.findall(plain)), "").lower()
    return _ASKING.match(plain) is not None or first in VERBS
