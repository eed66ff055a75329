"""The rules of Chinese: numerals, dates, times of day, and what descriptions say."""

import re
from collections.abc import Iterator
from random import Random

from callwright.language.protocol import MOST_DIGITS, ORDINAL, PERCENT, WORDS, ClockReading, LanguageRules, Number

# ruff: noqa: PLR2004 - days, hours and the powers of ten are what this file is about

_GROUPS = ("零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九")
_DIGITS = {digit: value for value, group in enumerate(_GROUPS) for digit in group}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_WRITTEN = "零一二三四五六七八九"
_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]+"
# 0..69: days, hours, minutes
_SMALL_NUMERAL = "(?:[二三四五六]?十[一二三四五六七八九]?|[零〇]?[一二两三四五六七八九]|[零〇])"
# what follows a decimal and no time of day
_DECIMAL_UNIT = (
    "(?:倍|[公英]里|千米|米|厘米|[公市]?斤|千克|克|升|[万亿]|元|块|个百分点|度|折|英?寸|尺|[吨兆%]|赫兹|分贝|瓦|伏|点)"
)

_NUMBER = re.compile(
    rf"(?P<hundredths>百分之)?(?P<ordinal>第)?(?P<sign>负|零下)?(?P<whole>(?:{_NUMERAL})|(?<=第)\d+)"
    r"(?:点(?P<fraction>[零〇一二三四五六七八九]+)(?P<magnitude>[万亿]?)(?![分刻]))?"
)
_HAS_NUMERAL = re.compile(_NUMERAL)
_BARE_UNIT = re.compile("[百千万亿]+")
_MEASURES = (
    "个张位间瓶份周天年月杯本件台部辆晚小分把双场首只套盒箱斤顿碗号楼室厅层级星人名条块篇封款种类道元万千百岁米公"
)
_ONE = re.compile(f"一(?=[{_MEASURES}])(?!一)(?!(?:条龙|块儿|种|类|般|道|分为|人称|月|周[一二三四五六日]|号线))|一$")
_WORD_BEFORE = re.compile("(?:[周期拜统唯]|星期|礼拜|万|独|同|单)$")
_FIXED = re.compile(
    "十分(?!钟|之|[的]?$)|千万(?![元块人次条吨米]|$)|万一|三星|四川|四季|五金|七夕|八卦|三亚|九寨|百分|万达|五一|十一长假|六一"
)

_PARTS = {
    "morning": "清晨 早晨 早上 上午 今早 明早 早", "noon": "中午 正午", "afternoon": "下午 午后", "evening": "傍晚",
    "night": "晚上 夜里 夜晚 深夜 今晚 明晚 昨晚 当晚 晚间 晚", "small hours": "凌晨 半夜 午夜",
}  # fmt: skip
_PART_OF = {word: part for part, words in _PARTS.items() for word in words.split()}
_DAY_PART = "|".join(sorted(_PART_OF, key=len, reverse=True))
_MINUTES = "(?:[二三四五]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九])"
_BEFORE = rf"差(?:(?P<to_quarter>[一三])刻|(?P<to>[0-5]?\d|{_SMALL_NUMERAL})分?)(?:钟)?(?:就|到)?"
_CLOCK = re.compile(
    rf"(?:(?P<part>{_DAY_PART})的?\s?)?(?:{_BEFORE})?(?:"
    rf"(?P<hour>(?<![\d.:])\d{{1,2}}|(?<![零〇一二两三四五六七八九十百千第有]){_SMALL_NUMERAL})\s?(?:点钟?|时(?![间候代常而不段刻期差]))"
    rf"(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>[0-5]?\d(?=分)|[0-5]\d(?!\d)|{_MINUTES}|{_SMALL_NUMERAL}(?=分))分?|整|钟"
    rf"|差(?:(?P<less_quarter>[一三])刻|(?P<less>[0-5]?\d|{_SMALL_NUMERAL})分钟?))?"
    rf"(?!{_DECIMAL_UNIT})"
    r"|(?P<h>(?<![\d.:])\d{1,2}):(?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d:]))"
)
_DECIMAL = re.compile(rf"[零〇一二三四五六七八九]+(?:{_DECIMAL_UNIT}|[,.;!?]|$)")
_CLOCK_HINT = re.compile("[点时:]")
_NOT_A_TIME = re.compile("[儿心多]|左右的|一[下些]|[个次种]")

_COUNTED = {  # the end of a description: how it is asked for, and what stands behind the number
    "人数": ("几个人", "个人"), "晚数": ("住几晚", "晚"), "天数": ("几天", "天"), "小时数": ("几个小时", "个小时"),
    "分钟数": ("几分钟", "分钟"), "张数": ("几张", "张"), "间数": ("几间", "间"), "公斤数": ("多少公斤", "公斤"),
}  # fmt: skip
_NOON = 12
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_SHOP_NOT_CITY = frozenset("超城门夜股菜上楼都集")
_TEN_THOUSAND = 10_000
_LONGEST_IN_WORDS = 100

_MOST_CHARACTERS = 26
_LONGEST_CUE = 8
_HAN = re.compile("[\u4e00-\u9fff]")
_ASIDE = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_END = re.compile("[。；;！!？?\n（(，,：:]|例如|比如|以便|用于")
_FRAME = re.compile(
    "^(?:该|此|本)?(?:工具|接口|函数|功能)?(?:可以|能够|能|用于|用来|支持|提供)?(?:帮助)?(?:用户|你|您)?(?:的)?"
)
_LEAD = re.compile(
    "^(?:根据|按照|按|通过|依据|基于|使用|利用)[^。]*?(?=查询|搜索|获取|查看|查找|检索|筛选|推荐|计算|预订|预定|购买|设置"
    "|打开|创建|添加|删除|取消|修改|更新|发送|播放|预约|下载|上传|提交|办理)"
)
_SYNONYMS = {
    "查询": ("查一下", "查查"), "查看": ("看一下", "看看"), "搜索": ("搜一下", "找一下"), "获取": ("看一下", "拿到"),
    "查找": ("找一下",), "添加": ("加上",), "创建": ("新建",), "新建": ("创建",), "删除": ("删掉",), "预订": ("订",),
    "预定": ("订",), "购买": ("买",), "发送": ("发",), "播放": ("放",), "修改": ("改一下",), "计算": ("算一下",),
    "推荐": ("推荐一下",), "设置": ("设一下",),
}  # fmt: skip
_CUE_END = re.compile(
    r"[.,;:(（，。；：!?？、\n]|\s-\s|默认|例如|[Dd]efaults?\b|比如|\b(?:e\.g|i\.e|such as|like|default|defaults)\b|，?如(?!何|果)"
)
_HEAD = re.compile("^(?:用户的?|用户要|要|需要|想要|具体的?|指定的?|请?输入|当前的?|被|对应的?|目标)")
_YES_NO = re.compile(
    r"^(?:a )?(?:boolean|flag)?\s*(?:indicat\w+|specif\w+)?\s*(?:whether|if|set to true|true)\b|^(?:enable|turn on|allow)\b|^是否",
    re.IGNORECASE,
)


class Rules(LanguageRules):
    """What no list of Chinese words can state; nouns have no number, and words are compared character by character."""

    DATE_PATTERNS = (
        r"(?:(?P<y>(?<!\d)\d{4}|[〇零一二三四五六七八九]{4})年|(?:今年|明年|去年))?的?"
        rf"(?P<m>(?<![\d.])\d{{1,2}}|{_SMALL_NUMERAL})月份?的?"
        rf"(?P<d>\d{{1,2}}|{_SMALL_NUMERAL})(?:日|号|(?![\d个月天年零〇一二三四五六七八九十百千]))",
    )
    JOINS_NUMBERS = False

    def day_of_month(self, words: str) -> int | None:
        return parse_chinese(words)

    def month_number(self, words: str) -> int | None:
        return parse_chinese(words)

    def year_number(self, words: str) -> int | None:
        return parse_chinese(words)

    def date_forms(self, year: int, month: int, day: int) -> tuple[str, ...]:
        return (f"{year}年{month}月{day}日", f"{year}年{month}月{day}号")

    def moment_forms(self, day: str, clock: str) -> tuple[str, ...]:
        return (day + clock,)

    def number_words(self, text: str) -> Iterator[Number]:
        """一百零五, 三千五, 两万, 百分之二十; not those that count nothing, as in 一下 and 周三."""
        for match in _NUMBER.finditer(text) if _HAS_NUMERAL.search(text) else ():
            if len(match["whole"]) > MOST_DIGITS:
                continue
            value: float | None = int(match["whole"]) if match["whole"].isdecimal() else parse_chinese(match["whole"])
            if value is not None and match["fraction"]:
                fraction = "".join(str(_DIGITS[digit]) for digit in match["fraction"])
                value = float(f"{value}.{fraction}") * {"": 1, "万": 10_000, "亿": 100_000_000}[match["magnitude"]]
            if value is not None and _is_number(text, match):
                rule = PERCENT if match["hundredths"] else ORDINAL if match["ordinal"] else WORDS
                yield Number(-value if match["sign"] else value, *match.span(), rule)

    def number_forms(self, number: int) -> tuple[str, ...]:
        if number >= _TEN_THOUSAND and number % 1000 == 0:
            digits = f"{number / _TEN_THOUSAND:f}".rstrip("0").rstrip(".")
            return (f"{digits}万", write_chinese(number))
        is_short = 1 < number < _LONGEST_IN_WORDS or (number and number % _LONGEST_IN_WORDS == 0)
        return (write_chinese(number),) if is_short else ()

    def clock_readings(self, text: str) -> Iterator[ClockReading]:
        """晚上七点半, 下午3点15分, 差一刻七点, 早上8:30; 三点五 is a decimal, and 一点 alone is "a bit"."""
        for match in _CLOCK.finditer(text) if _CLOCK_HINT.search(text) else ():
            part = _PART_OF[match["part"]] if match["part"] else ""
            if match["h"]:
                if part:
                    yield ClockReading(*match.span(), int(match["h"]), int(match["m"]), part)
                continue
            is_bare = match.end() == match.end("hour") + 1
            is_decimal = is_bare and _DECIMAL.match(text, match.end())
            is_no_time = match["hour"] == "一" or _NOT_A_TIME.match(text, match.end())
            if not is_decimal and not (is_bare and not part and is_no_time):
                # how many minutes before the hour is meant: 差五分七点, 七点差五分
                short = _minutes(match["to_quarter"] or match["less_quarter"], match["to"] or match["less"])
                minute = (30 if match["half"] else _minutes(match["quarter"], match["minute"])) - short
                hour = _number(match["hour"]) - (minute < 0)
                yield ClockReading(*match.span(), hour, minute + 60 * (minute < 0), part)

    def write_clock(self, hour: int, minute: int, rng: Random) -> str:
        on_clock = hour % _NOON or _NOON
        digits = f"{on_clock}点" + (f"{minute}分" if minute else "")
        words = f"{'两' if on_clock == 2 else write_chinese(on_clock)}点"
        if minute:
            words += "半" if minute == 30 else f"{'零' if minute < 10 else ''}{write_chinese(minute)}分"
        parts = ((6, "凌晨"), (9, "早上"), (12, "上午"), (13, "中午"), (18, "下午"), (24, "晚上"))
        part = next(part for limit, part in parts if hour < limit)
        return part + rng.choice((digits, words, f"{on_clock}:{minute:02}"))

    def is_place_ending(self, character: str, before: str) -> bool:
        """Whether 市 or 省 ends the name of a place; 超市 is a shop."""
        return character in ("市", "省") and bool(_IDEOGRAPH.match(before)) and before not in _SHOP_NOT_CITY

    def counted(self, called: str, name: str) -> tuple[str, str] | None:
        return next((_COUNTED[ending] for ending in _COUNTED if called.endswith(ending)), None)

    def point(self, before: str, phrase: str, after: str, cue: str, *, is_typed: bool) -> str:
        """The phrase is joined to a name right before it, or to a clause that a bare date or time would end."""
        if before.rstrip().endswith(cue):
            return f"{before.rstrip()}是{phrase}{after}"
        is_bare = is_typed and before.endswith("，") and not after.startswith("吧")
        return f"{before}{'就按' if is_bare else ''}{phrase}{after}"

    def action_of(self, name: str, description: str) -> str:
        text = _LEAD.sub("", _FRAME.sub("", _ASIDE.sub("", description).strip()))
        clause = re.sub("用户的?", "我的", _END.split(text, maxsplit=1)[0].strip())
        clause = re.sub("(?:指定|特定|相关|所有)的?", "", clause)
        return clause if _HAN.search(clause) and len(clause) <= _MOST_CHARACTERS else ""

    def other_actions(self, phrase: str) -> tuple[str, ...]:
        verb = next((verb for verb in _SYNONYMS if phrase.startswith(verb)), "")
        return tuple(other + phrase[len(verb) :] for other in _SYNONYMS.get(verb, ()))

    def cue_of(self, description: str) -> str:
        head = _HEAD.sub("", _CUE_END.split(description.strip(), maxsplit=1)[0].strip())
        is_cue = not _YES_NO.search(description) and _HAN.search(head) and 1 < len(head) <= _LONGEST_CUE
        return head if is_cue else ""


def _number(words: str) -> int:
    return int(words) if words.isdecimal() else parse_chinese(words) or 0


def _minutes(quarters: str | None, minutes: str | None) -> int:
    return 15 * _number(quarters) if quarters else _number(minutes) if minutes else 0


def parse_chinese(numeral: str) -> int | None:
    """The number that `numeral` says, None where it says none; 二百五 is 250, 二〇二六 is 2026."""
    if len(numeral) > MOST_DIGITS or not _HAS_NUMERAL.fullmatch(numeral):
        return None
    if all(character in _DIGITS for character in numeral):
        return int("".join(str(_DIGITS[character]) for character in numeral))
    total = section = digit = 0
    unit_before = 0  # the unit that a bare last digit is a tenth of: 三千五 is 3500
    pending = False
    for character in numeral:
        if character in _DIGITS:
            if pending and digit:
                return None
            digit, pending = _DIGITS[character], True
            if digit == 0:
                unit_before, pending = 0, False
        elif character in _SMALL:
            section += (digit if pending else 1) * _SMALL[character]
            digit, pending, unit_before = 0, False, _SMALL[character]
        else:
            unit = _LARGE[character]
            total = (total + section + digit) * unit if unit > 10_000 else total + (section + digit) * unit
            section, digit, pending, unit_before = 0, 0, False, unit
    shorthand = digit * unit_before // 10 if pending and unit_before > 10 else digit
    return total + section + shorthand


def write_chinese(number: int) -> str:
    """`number` (not negative, below 10^12) in Chinese numerals."""
    if number < 10:
        return _WRITTEN[number]
    for word, unit in (("亿", 100_000_000), ("万", 10_000)):
        if number >= unit:
            head, rest = divmod(number, unit)
            gap = "零" if 0 < rest < unit // 10 else ""
            return write_chinese(head) + word + gap + (_below_unit(rest) if rest else "")
    written = _below_unit(number)
    return written[1:] if 10 <= number < 20 else written


def _below_unit(number: int) -> str:
    if number >= 10_000:
        return write_chinese(number)
    pieces: list[str] = []
    gap = False
    for word, unit in (("千", 1000), ("百", 100), ("十", 10), ("", 1)):
        digit, number = divmod(number, unit)
        if digit:
            pieces.append(("零" if gap and pieces else "") + _WRITTEN[digit] + word)
            gap = False
        else:
            gap = True
    return "".join(pieces)


def _is_number(text: str, match: re.Match[str]) -> bool:
    if match["hundredths"] or match["ordinal"] or match["sign"] or match["fraction"]:
        return True
    whole, start, end = match["whole"], match.start("whole"), match.end()
    if _BARE_UNIT.fullmatch(whole) or _FIXED.match(text, start):
        return False
    if _WORD_BEFORE.search(text[max(0, start - 2) : start]) and len(whole) == 1:
        return False
    if text[end : end + 1] == "月" or (text[end : end + 1] in "点时" and text[end : end + 1]):
        return False
    return whole != "一" or bool(_ONE.match(text, start))
