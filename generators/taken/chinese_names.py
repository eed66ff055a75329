"""Names of people in Chinese words, where no gap tells where a name begins and ends.

A name is a family name with one or two characters more. What introduces it or follows it tells that it is one, or the given name
does, where people have it. Which names there are is known from Faker's lists; no model is asked.
"""

import re
from collections.abc import Iterator
from functools import cache

from callwright.language.calls.meanings import chinese_names

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
# behind the first a name stands, whatever it is
_TOLD = (
    r"(?:(?:我叫|名叫|叫做|[寄发發转轉]给|(?:姓名|名字|联系人|聯絡人|收件人|收货人|乘客|乘车人|患者|病人|客户)(?:是|叫|为)?)"
    r"\s*[:：]?\s*)"
)
# behind the second one may
_MAYBE = (
    "(?:我是|这是|给|給|和|跟|与|與|找|替|帮|幫|让|讓|叫|请|約|约|提醒|通知|告诉|告訴|联系|聯絡|邀请|邀請|一下"
    "|發給|同事|朋友|同学|老师|经理|医生)"
)
_TITLE = re.compile(
    "先生|女士|小姐|老师|老師|医生|醫生|经理|教授|律师|主任|师傅|阿姨|叔叔"
    "|的(?:手机|电话|電話|邮箱|号码|地址|生日)|打个?电话|打電話"
)
# what goes on behind a name: no second half of a given name
_GOES_ON = re.compile(
    "[的是在和跟与说打发送寄预订约买想有去到吗呢吧了也都把被给从对，。]|[明今后昨]天"
    "|先生|女士|小姐|老师|医生|经理|需要|抱歉|麻烦|应该"
)


@cache
def _characters() -> frozenset[str]:
    """The characters of given names that are known."""
    return frozenset("".join(chinese_names()[1]))


@cache
def _pattern() -> re.Pattern[str]:
    family = "|".join(sorted(chinese_names()[0], key=lambda one: (-len(one), one)))  # the longest first
    return re.compile(
        rf"(?:(?P<told>{_TOLD})|(?P<maybe>{_MAYBE}|(?<![{_HAN}])))(?P<name>(?:{family})(?=[{_HAN}]))(?P<rest>[{_HAN}]{{1,2}})"
    )


def is_chinese(value: str) -> bool:
    """Whether a value is written in Chinese letters alone."""
    return bool(re.fullmatch(f"[{_HAN}]+", value))


def find_chinese_names(text: str) -> Iterator[tuple[int, int]]:
    """Where names of people stand in a text, from start to end."""
    at = 0
    while match := _pattern().search(text, at):
        length = _length_of_given(match, text)
        yield from [(match.start("name"), match.start("rest") + length)] if length else []
        at = match.start("rest") + length


def _length_of_given(match: re.Match[str], text: str) -> int:
    """How many characters of a given name stand behind a family name, 0 where it is none."""
    start = match.start("rest")
    lengths = [
        one
        for one in range(len(match["rest"]), 0, -1)
        if not any(_GOES_ON.match(text, start + at) for at in range(one))
    ]
    for length in lengths:
        given = text[start : start + length]
        is_like = bool(set(given) & _characters())
        is_followed = bool(_TITLE.match(text, start + length)) and (is_like or bool(match["maybe"]))
        is_known = length > 1 and given in chinese_names()[1]
        if match["told"] or is_followed or is_known or (match["maybe"] and is_like):
            return length
    return 0
