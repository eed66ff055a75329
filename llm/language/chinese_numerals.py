"""Chinese numerals: 一百零五, 三千五, 两万, 二〇二六, 百分之二十."""

# ruff: noqa: PLR2004 - the powers of ten are what this file is about

import re

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
