"""What words speak of: how much a text tells of each parameter, and which ones a question asks for."""

import re
from collections.abc import Sequence
from functools import lru_cache

from pydantic import JsonValue

from generators.shifts.phrases import is_question
from language.calls.parameters import CLOCKED, PLACES
from language.calls.tools import ParameterView
from language.moments import moment_parts
from language.names import humanise, split_name
from language.thesaurus import weigh_words

_WHEN = re.compile(
    r"\b(?:when|what (?:time|date|day)|which (?:date|day))\b|什么时候|何时|几点|哪天|哪一天|几号", re.IGNORECASE
)
_WHERE = re.compile(
    r"\b(?:where|area|region|location|place)\b|哪里|哪儿|何处|什么地方|地区|区域|位置|地点", re.IGNORECASE
)
_NEXT_QUESTION = re.compile(
    r"(?<=[?？。！!.;；\n])\s*|(?<=[\u4e00-\u9fff])\s+"
    r"|\s(?=(?:What|Where|When|Who|Which|How|Please|Do|Does|Is|Are|Would|Could|Can|May|Whether|Need|Provide|Tell)\b)"
)
_CHINESE = {  # names are English also where descriptions and users are not
    "name": "姓名 名字 名称", "title": "标题 题目", "date": "日期", "time": "时间", "city": "城市", "address": "地址",
    "location": "位置 地点", "phone": "电话 手机", "email": "邮箱", "number": "号码 编号", "id": "编号", "type": "类型",
    "price": "价格", "amount": "金额", "content": "内容", "departure": "出发", "destination": "目的地 到达",
    "duration": "时长", "age": "年龄", "school": "学校", "company": "公司", "brand": "品牌", "color": "颜色",
    "language": "语言", "reason": "原因 理由", "size": "大小 尺寸", "quantity": "数量", "password": "密码",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z]+")
_EXAMPLES = re.compile(r",?\s*\b(?:such as|e\.g)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"\b(?:No\b|Nr\b|Num\b|ID\b)|号")
_HINT = 1.5  # what a question word or the shape of a value counts, beside the words of a description
_PLAIN, _MARGIN = 1.0, 1.5
_WHITHER = re.compile(r"\bwhere to\b|\b(?:going|headed|flying|travel(?:l?ing)?) to\b|到哪|去哪|飞哪", re.IGNORECASE)
_WHENCE = re.compile(
    r"\bwhere from\b|\b(?:leaving|flying|departing|coming|come|start(?:ing)?) from\b|从哪|哪里出发", re.IGNORECASE
)


def asked_for(question: str, parameters: Sequence[ParameterView]) -> list[str]:
    """The parameters that a question, or one of several at once, is clearly about."""
    asked: list[str] = []
    for part in parts_of(question):
        if not is_question(part) and "provide" not in part.lower():
            continue  # "Taken care of." asks nothing
        scores = sorted(((score, name) for name, score in about(part, parameters).items()), reverse=True)
        best, name = scores[0] if scores else (0.0, "")
        rest = scores[1][0] if len(scores) > 1 else 0.0
        if best >= _PLAIN and best >= _MARGIN * rest:
            asked.append(name)
    return asked


def about(text: str, parameters: Sequence[ParameterView], value: JsonValue = None) -> dict[str, float]:
    """How much a text speaks of each of these parameters; a word that several are called by tells little."""
    words = {one.name: _words(one) for one in parameters}
    scores = dict.fromkeys(words, 0.0)
    for word, weight, meaning in _said(text):
        shares = {name: max(own.get(word, 0.0), own.get(meaning, 0.0)) for name, own in words.items()}
        callers = sum(share > 0 for share in shares.values())
        for name, share in shares.items():
            scores[name] += min(weight, share) / callers if share else 0.0
    is_clock = isinstance(value, str) and bool(moment_parts(value))
    asks_when, asks_where = bool(_WHEN.search(text)), bool(_WHERE.search(text))
    ways = {"destination": _WHITHER, "origin": _WHENCE}
    for one in parameters:
        if one.kind in ways and ways[one.kind].search(text):
            scores[one.name] += _HINT
        if one.kind in CLOCKED:
            scores[one.name] += _HINT * (asks_when + is_clock)
        elif one.kind in PLACES:
            scores[one.name] += _HINT * asks_where
    return scores


@lru_cache(8192)
def _said(text: str) -> tuple[tuple[str, float, str], ...]:
    """The telling words of a text with their weights; with an English word comes what it means, and counts once."""
    said: list[tuple[str, float, str]] = []
    english: set[str] = set()
    for word in _WORD.findall(text):
        keys = weigh_words(word)
        root = next(iter(keys), "")
        if root and root not in english:
            english.update(keys)
            said.append((root, keys[root], next((key for key in keys if key != root), "")))
    return (*said, *((key, weight, "") for key, weight in weigh_words(text).items() if key not in english))


def parts_of(question: str) -> list[str]:
    """The single questions of what the assistant asked at once."""
    return [part for part in _NEXT_QUESTION.split(question) if part and part.strip()]


def is_named(parameter: ParameterView, text: str) -> bool:
    """Whether a text has all the words of a parameter's name."""
    words = weigh_words(humanise(parameter.name))
    return bool(words) and words.keys() <= weigh_words(text).keys()


def says_of(parameter: ParameterView, text: str) -> set[str]:
    """The words of a text that a parameter is called by."""
    return weigh_words(text).keys() & _words(parameter).keys()


def _words(parameter: ParameterView) -> dict[str, float]:
    return _words_of(parameter.name, str(parameter.schema.get("description") or ""))


@lru_cache(8192)
def _words_of(name: str, description: str) -> dict[str, float]:
    description = _EXAMPLES.split(description, maxsplit=1)[0]
    called = split_name(name)
    chinese = " ".join(_CHINESE.get(word, "") for word in called)
    numbered = "number" if "id" in called or _NUMBERED.search(description) else ""
    return weigh_words(f"{humanise(name)} {description} {chinese} {numbered}")
