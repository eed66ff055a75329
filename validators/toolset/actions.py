"""What a tool does and to what, known by its name: `createAlarm` creates an alarm, `searchFlights` reads flights."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from language.names import split_name, words
from language.thesaurus import english_groups
from language.vocabulary import deep_stem, stem
from warehouse.records import Tool

READ, CREATE, CHANGE, DELETE, START, STOP, OTHER = "read", "create", "change", "delete", "start", "stop", "other"


class Doing(NamedTuple):
    """What a tool does: `kinds` of action (a verb like `set` has two), its verb, and the words of what it does it to.

    `head` is the one word of these for the thing itself: an article, of `saveArticleForLater`; "" where there is none.
    """

    kinds: frozenset[str]
    verb: str
    resource: tuple[str, ...]
    head: str = ""


_VERBS = {
    (READ,): "get search query view find list show check read browse retrieve fetch see look lookup track count compare filter"
    " display monitor estimate calculate predict recommend inspect quote watch identify locate describe summarize",
    (CREATE, OTHER): "create add make new record log write schedule book reserve order buy purchase place post upload save"
    " store register insert plan issue apply submit publish report favorite favourite collect bookmark draft"
    " enroll subscribe follow generate compose put pin invite rent hire request",
    (CHANGE,): "update modify edit change adjust alter rename move switch reset reschedule rebook extend replace revise"
    " amend append",
    (CREATE, CHANGE, START): "set",
    (DELETE,): "delete remove cancel clear erase discard drop uncollect unfollow unlike revoke unsubscribe unfavorite unpin"
    " cancle delect withdraw trash purge",
    (START, OTHER): "open start enable activate resume launch play begin connect turn",
    (STOP,): "close stop disable deactivate pause end finish quit disconnect exit",
    (OTHER,): "send share pay transfer call translate lock unlock mute unmute block unblock convert download forward rate"
    " evaluate comment reply answer dim brighten raise lower increase decrease reduce refund redeem snooze tip leave join"
    " export import scan sign claim hide restore contact navigate export print test shuffle skip like"
    " install uninstall remind repay renew terminate deliver return refuse redeem invest merge take",
}  # fmt: skip
_KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {verb: frozenset(kinds) for kinds, verbs in _VERBS.items() for verb in verbs.split()}
)
# In a name these say how, not what: `listMyNotesByDate` is about notes.
_ASIDE = frozenset(
    words(
        "a all an and any at available by current detail details for from given in info information into item latest list"
        " mine my near nearby new of on one or own result results the to user with"
    )
)
_PREPOSITIONS = frozenset(words("about as at by for from in into of off on onto out over to under up with"))
# The thing that comes of doing it: who can book can have a booking, and cancel it.
_YIELDS: Mapping[str, str] = MappingProxyType(
    {
        "book": "booking", "reserve": "reservation", "order": "order", "subscribe": "subscription",
        "register": "registration", "enroll": "enrollment", "apply": "application", "favorite": "favorite",
        "favourite": "favorite", "bookmark": "bookmark", "collect": "collection", "post": "post", "comment": "comment",
        "report": "report", "request": "request", "invite": "invitation", "rent": "rental", "buy": "order",
        "purchase": "order", "draft": "draft",
    }
)  # fmt: skip
_OPPOSITES = (
    ("on", "off"), ("start", "stop"), ("start", "end"), ("open", "close"), ("enable", "disable"), ("send", "receive"),
    ("send", "request"), ("pay", "request"), ("next", "previous"), ("first", "last"), ("increase", "decrease"),
    ("raise", "lower"), ("dim", "brighten"), ("incoming", "outgoing"), ("accept", "reject"), ("accept", "decline"),
    ("approve", "reject"), ("show", "hide"), ("join", "leave"), ("in", "out"), ("up", "down"), ("import", "export"),
    ("upload", "download"), ("lend", "borrow"), ("buy", "sell"), ("pause", "resume"), ("pickup", "delivery"),
    ("like", "dislike"), ("deposit", "withdraw"), ("add", "remove"), ("book", "cancel"), ("borrow", "return"),
    ("arrival", "departure"), ("income", "expense"),
)  # fmt: skip
_CHINESE_OPPOSITES = (
    ("打开|开启|启用|接通", "关闭|关掉|停用|关上"), ("开始|启动", "停止|结束"), ("锁定|上锁", "解锁"),
    ("屏蔽|拉黑", "解除|取消屏蔽"), ("静音", "取消静音|解除静音"), ("加入|添加|新增|增加", "删除|移除|退出|移出"),
    ("预订|预定|预约", "取消|退订"), ("调高|调大|提高|增大", "调低|调小|降低|减小"), ("收藏", "取消收藏"),
    ("关注", "取消关注|取关"), ("接受|同意", "拒绝"), ("收款|收取", "付款|转账|支付"), ("上传", "下载"),
    ("导入", "导出"), ("存入|存款", "取款|提现"), ("买入|购买", "卖出|出售"), ("下一", "上一"),
    ("收入", "支出"), ("暂停", "继续|恢复"), ("显示", "隐藏"),
)  # fmt: skip
_CHINESE_VERBS = (
    (READ, "查询|查看|搜索|获取|查找|列出|浏览|检索|显示|统计|估算|计算|推荐|比较|追踪|跟踪"),
    (DELETE, "删除|移除|取消|清空|清除|撤销|退订"),
    (CHANGE, "修改|更新|更改|编辑|调整|重命名|改签|变更"),
    (CREATE, "创建|新建|添加|新增|增加|预订|预约|预定|保存|记录|录入|下单|购买|发布|收藏"),
    (STOP, "关闭|停止|结束|暂停|停用"),
    (START, "打开|开启|启动|开始|播放|启用"),
)  # fmt: skip
_WORDS = re.compile(r"[a-z]+")


@lru_cache(8192)
def doing_of(name: str, description: str) -> Doing:
    """What the tool of this name and description does; an unknown verb is an action of the kind "other"."""
    named = split_name(name.rsplit(".", 1)[-1])
    verb = next((word for word in named if word in _KINDS), "")
    rest = tuple(stem(word) for word in named if word != verb and word not in _ASIDE)
    if not verb:
        verb = next((word for word in _WORDS.findall(description.lower())[:1] if word in _KINDS), "")
    kinds = _KINDS.get(verb) or _stated_in_chinese(description)
    if {"turn", "switch"} & set(named) and {"on", "off"} & set(named):
        kinds = frozenset({START if "on" in named else STOP})
    return Doing(kinds, verb, rest, _head(named[named.index(verb) + 1 :] if verb in named else named))


def _head(after: Sequence[str]) -> str:
    """The last word before a preposition, else the last one of all."""
    end = next((place for place, word in enumerate(after) if word in _PREPOSITIONS and place), len(after))
    kept = [word for word in after[:end] if word not in _ASIDE | _PREPOSITIONS] or [
        word for word in after if word not in _ASIDE | _PREPOSITIONS
    ]
    return kept[-1] if kept else ""


def yields(doing: Doing) -> str:
    """What comes of the action: booking a room yields a booking; "" where it yields its object."""
    return _YIELDS.get(doing.verb, "")


def are_opposed(one: Tool, other: Tool) -> bool:
    """Whether two tools do different or opposite things, however alike the words about them are."""
    doing, others = doing_of(one.name, one.description), doing_of(other.name, other.description)
    if not doing.kinds & others.kinds:
        return True
    if _do_differently(doing, others):
        return True
    return any(_differ(one, other))


def _do_differently(doing: Doing, others: Doing) -> bool:
    """Whether the verbs are opposites, or of no kind but their own and no synonyms: who replies does not forward."""
    verb, other = doing.verb, others.verb
    if not verb or not other or verb == other:
        return False
    if verb == f"un{other}" or other == f"un{verb}":
        return True
    groups = english_groups()
    mine, theirs = groups.get(deep_stem(verb), verb), groups.get(deep_stem(other), other)
    return doing.kinds == others.kinds == {OTHER} and mine != theirs


def _differ(one: Tool, other: Tool) -> Iterator[bool]:
    own, others = _all_words(one), _all_words(other)
    for first, second in _OPPOSITES:
        yield first in own and second in others and second not in own and first not in others
        yield second in own and first in others and first not in own and second not in others
    for left, right in _CHINESE_OPPOSITES:
        sides = _side(one.description, left, right), _side(other.description, left, right)
        yield set(sides) == {1, -1}


def _side(text: str, left: str, right: str) -> int:
    """1 for a text on the left side of a pair of opposites, -1 on the right, 0 on neither; the right may hold the left."""
    if re.search(right, text):
        return -1
    return 1 if re.search(left, text) else 0


def _all_words(tool: Tool) -> frozenset[str]:
    name = split_name(tool.name.rsplit(".", 1)[-1])
    return frozenset((*name, *_WORDS.findall(tool.description.lower())))


def _stated_in_chinese(description: str) -> frozenset[str]:
    found = [(match.start(), kind) for kind, verbs in _CHINESE_VERBS if (match := re.search(verbs, description))]
    kind = min(found, default=(0, OTHER))[1]
    return frozenset({kind, OTHER} if kind in {CREATE, START} else {kind})
