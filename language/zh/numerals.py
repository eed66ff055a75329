"""Chinese numerals: 一百零五, 三千五, 两万, 百分之二十; and those that count nothing, as in 一下 and 周三."""

import re
from collections.abc import Iterator

from callwright.language.protocol import ORDINAL, PERCENT, WORDS, Number

# ruff: noqa: PLR2004 - the powers of ten are what this file is about


_DIGITS = {
    c: value
    for value, group in enumerate(("零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九"))
    for c in group
}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_WRITTEN = "零一二三四五六七八九"
NUMERAL = "[零〇一二两三四五六七八九十百千万亿]+"
SMALL_NUMERAL = (
    "(?:[二三四五六]?十[一二三四五六七八九]?|[零〇]?[一二两三四五六七八九]|[零〇])"  # 0..69: days, hours, minutes
)
# What follows a decimal and no time of day.
DECIMAL_UNIT = "(?:倍|[公英]里|千米|米|厘米|[公市]?斤|千克|克|升|[万亿]|元|块|个百分点|度|折|[英]?寸|尺|[吨兆%]|赫兹|分贝|瓦|伏|点)"
_WELL_FORMED = re.compile(NUMERAL)


def parse_chinese(numeral: str) -> int | None:
    """The number that `numeral` says, None where it says none; 二百五 is 250, 二〇二六 is 2026."""
    if not _WELL_FORMED.fullmatch(numeral):
        return None
    if all(character in _DIGITS for character in numeral):
        return int("".join(str(_DIGITS[character]) for character in numeral))
    return _positional(numeral)


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


def _positional(numeral: str) -> int | None:
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


_NUMBER = re.compile(
    rf"(?P<hundredths>百分之)?(?P<ordinal>第)?(?P<sign>负|零下)?(?P<whole>(?:{NUMERAL})|(?<=第)\d+)"
    r"(?:点(?P<fraction>[零〇一二三四五六七八九]+)(?P<magnitude>[万亿]?)(?![分刻]))?"
)
_HINT = re.compile(NUMERAL)
_BARE_UNIT = re.compile("[百千万亿]+")
_MEASURES = (
    "个张位间瓶份周天年月杯本件台部辆晚小分把双场首只套盒箱斤顿碗号楼室厅层级星人名条块篇封款种类道元万千百岁米公"
)
_ONE = re.compile(f"一(?=[{_MEASURES}])(?!一)(?!(?:条龙|块儿|种|类|般|道|分为|人称|月|周[一二三四五六日]|号线))|一$")
_WORD_BEFORE = re.compile("(?:[周期拜统唯]|星期|礼拜|万|独|同|单)$")
_FIXED = re.compile(
    "十分(?!钟|之|[的]?$)|千万(?![元块人次条吨米]|$)|万一|三星|四川|四季|五金|七夕|八卦|三亚|九寨|百分|万达|五一|十一长假|六一"
)


def chinese_numbers(text: str) -> Iterator[Number]:
    """The numerals in folded `text` that are numbers."""
    if not _HINT.search(text):
        return
    for match in _NUMBER.finditer(text):
        value = _value(match)
        if value is None or not _is_number(text, match):
            continue
        rule = PERCENT if match["hundredths"] else ORDINAL if match["ordinal"] else WORDS
        yield Number(-value if match["sign"] else value, *match.span(), rule)


def _value(match: re.Match[str]) -> float | None:
    whole = int(match["whole"]) if match["whole"].isdecimal() else parse_chinese(match["whole"])
    if whole is None or not match["fraction"]:
        return whole
    value = float(f"{whole}.{parse_digits(match['fraction'])}")
    return value * {"": 1, "万": 10_000, "亿": 100_000_000}[match["magnitude"]]


def parse_digits(numerals: str) -> str:
    """Numerals read one by one: 零五 is "05"."""
    return "".join(str(parse_chinese(numeral)) for numeral in numerals)


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
