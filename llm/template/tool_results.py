"""What a tool returns, by the words of its name: what was found, or whether it went well and what comes of it."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from language.names import CHANGES, deed_of, function_words
from llm.template.sections import Sections
from warehouse.records import Language


class Result(NamedTuple):
    """A value that comes back, with its description in both languages."""

    name: str
    kind: str
    english: str
    chinese: str

    def sketch(self, language: Language, members: Sequence["Result"] = ()) -> dict[str, JsonValue]:
        """The value as an answer writes it."""
        description = self.english if language == "en" else self.chinese
        told: dict[str, JsonValue] = {"name": self.name, "kind": self.kind, "description": description}
        return {**told, "members": [member.sketch(language) for member in members]} if members else told


_SUCCESS = Result("success", "boolean", "success of the operation", "操作是否成功")
_DONE_AT = Result("done_at", "date_time", "time of the change", "生效时间")
_RESULTS = Result("results", "list", "results", "结果列表")
_MEMBERS = (Result("title", "text", "title", "名称"), Result("summary", "text", "short summary", "简介"))
_TOTAL = Result("total", "integer", "number of results", "结果总数")
_AS_OF = Result("as_of", "date_time", "time of the information", "信息时间")
_ANSWER = Result("answer", "text", "answer in words", "文字结果")
_MESSAGE = Result("message", "text", "message about the outcome", "结果说明")
_AMOUNT = Result("amount", "number", "amount", "金额")
_TIME = Result("time", "time", "time", "时间")
_STATUS = Result("status", "text", "status", "状态")
_VALUE = Result("value", "number", "value", "数值")
_DATE = Result("date", "date", "date", "日期")
_CONFIRMATION = Result("confirmation", "text", "confirmation number", "确认号")
_RECEIPT = Result("receipt", "text", "receipt number", "回执号")
_FILE = Result("file", "text", "path of the file", "文件路径")
# the first whose pattern the function's words match tells what is looked up
_LOOKED_UP = (
    ("prices?|rates?|fare|costs?|fees?|postage|salaries|mortgage|balance|spending|debt", _AMOUNT),
    ("when|time|hours|sunrise|first and last", _TIME),
    ("status|progress|late|crowded|queue|permissions|waiting|track|parked", _STATUS),
    ("count|distance|minutes|score|calories|days|miles|level|mass|value", _VALUE),
    ("day|date|expiry|holiday", _DATE),
)
# what is made comes with something to refer to it by
_MADE = (
    ("^(book|reserve|buy|rent|order|reorder|request|schedule|rebook|enroll|register)", _CONFIRMATION),
    ("^(pay|transfer|top|tip|repay|exchange|invest|sell)", _RECEIPT),
    ("^(export|download|convert|scan|merge|compress|print|trim|crop|join two|translate|transcribe)", _FILE),
)


def result_sketches(sections: Sections, language: Language) -> list[JsonValue]:
    """The results of the tool that the prompt names."""
    function = function_words(sections.word("name", ""))
    said = " ".join(function)
    deed = deed_of(function[0]) if function else "other"
    if deed in ("list", "search"):
        return [_RESULTS.sketch(language, _MEMBERS), _TOTAL.sketch(language)]
    if deed == "look":
        return [_first(_LOOKED_UP, said, _ANSWER).sketch(language), _AS_OF.sketch(language)]
    otherwise = _DONE_AT if deed in CHANGES else _MESSAGE
    return [_SUCCESS.sketch(language), _first(_MADE, said, otherwise).sketch(language)]


def _first(rules: Sequence[tuple[str, Result]], said: str, otherwise: Result) -> Result:
    return next((result for pattern, result in rules if _whole(pattern).search(said)), otherwise)


@lru_cache(64)
def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b")
