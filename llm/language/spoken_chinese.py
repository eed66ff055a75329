"""Numbers that Chinese text says in numerals; the 一 of 一下, the 十 of 十分 and the 三 of 周三 are none."""

import re
from collections.abc import Iterator

from llm.language.chinese_numerals import NUMERAL, parse_chinese
from llm.language.digits import ORDINAL, PERCENT, WORDS, Number

_NUMBER = re.compile(
    rf"(?P<hundredths>百分之)?(?P<ordinal>第)?(?P<sign>负)?(?P<whole>(?:{NUMERAL})|(?<=第)\d+)"
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
    if match["hundredths"] or match["ordinal"] or match["sign"]:
        return True
    whole, start, end = match["whole"], match.start("whole"), match.end()
    if _BARE_UNIT.fullmatch(whole) or _FIXED.match(text, start):
        return False
    if _WORD_BEFORE.search(text[max(0, start - 2) : start]) and len(whole) == 1:
        return False
    if text[end : end + 1] == "月" or (text[end : end + 1] in "点时" and text[end : end + 1]):
        return False
    return whole != "一" or bool(_ONE.match(text, start))
