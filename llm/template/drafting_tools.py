"""Describing a tool, and giving it parameters, by its goal and the words of its name."""

from collections.abc import Sequence

from pydantic import JsonValue

from language.names import Deed, deed_of, function_words, words
from llm.template.sections import Sections
from llm.template.tool_lexicon import Row, row, rows_for
from warehouse.records import Language

MOST_PARAMETERS = 4
_FEWEST = 2
_NAMED = frozenset(words("add create change update delete remove rename restore"))
_LABELLED = 3
_LABEL = ("label!", "{thing} name|名称", "label")
_NEW_LABEL = (
    "new_label!",
    "new name|新名称",
    "text",
    "Old Days|Sunday|Neighbors|Seaside|Second Try",
    "旧时光|周日|邻里|海边|新版本",
)
_KEYWORD = ("keyword!", "keyword|关键词", "keyword")
_ORDER = ("sort_by", "order|排序方式", "pick", "newest first|oldest first|by name", "最新优先|最早优先|按名称")
_COUNT = ("count", "number of results|结果数量", "int", 1, 50)
_FORMAT = ("format!", "file format|文件格式", "pick", "text|PDF|spreadsheet", "文本|PDF|电子表格")
_SINCE = ("since", "start date|起始日期", "date")
_DELETED_ON = ("deleted_on", "deletion date|删除日期", "date")
_COPY = ("keep_copy", "backup copy|保留备份", "flag")
_MINUTES = ("minutes", "number of minutes|分钟数", "int", 5, 240)
_DETAIL = ("detail", "level of detail|详细程度", "pick", "short|normal|full", "简略|普通|详细")
_REMARK = ("remark", "remark|备注", "wish")
_FILLERS: dict[Deed, tuple[tuple[str | int, ...], ...]] = {
    "list": (_ORDER, _COUNT),
    "search": (_COUNT, _ORDER),
    "look": (_DETAIL, _COUNT),
    "switch": (_MINUTES, _REMARK),
    "drop": (_COPY, _REMARK),
    "restore": (_DELETED_ON, _REMARK),
}


def describe(sections: Sections, language: Language) -> str:
    """The goal as a sentence."""
    goal = sections.word("goal", "").strip(" .。")
    return f"{goal[:1].upper()}{goal[1:]}." if language == "en" else f"{goal}。"


def parameter_sketches(sections: Sections, language: Language) -> list[JsonValue]:
    """The parameters of the tool that the prompt names, required ones first."""
    rows = parameter_rows(sections.word("category", ""), function_words(sections.word("name", "")))
    return [{**one.sketch(language), "required": one.is_required} for one in rows]


def parameter_rows(category: str, function: Sequence[str]) -> list[Row]:
    """The parameters of a function: those that the lexicon knows for its words, else those of what it does."""
    deed = deed_of(function[0]) if function else "other"
    found = rows_for(category, " ".join(function))
    if function[:1] == ("list",):
        found = []
    elif deed in ("search", "export") and function[-1:] in (("keyword",), ("file",)) and not _is_required(found):
        found = [_row(_KEYWORD)] if deed == "search" else [_row(_FORMAT), _row(_SINCE)]
    elif function[:1] and function[0] in _NAMED:
        found = _of_kept(deed, function, found)
    filled = _filled(found, deed)
    if found and deed != "list" and not _is_required(filled) and filled[0].kind != "boolean":
        filled[0] = filled[0]._replace(is_required=True)
    return sorted(filled, key=lambda one: not one.is_required)[:MOST_PARAMETERS]


def _of_kept(deed: Deed, function: Sequence[str], found: list[Row]) -> list[Row]:
    """The parameters with which something that people keep is added, changed, renamed, restored or deleted."""
    told = [one for one in found if one.names_thing]
    known = told[0]._replace(is_required=True) if told else _label(function)
    if function[0] == "rename":
        return [known, _row(_NEW_LABEL)]
    if deed in ("drop", "restore"):
        is_kept = told and "from" not in function  # pages deleted from a document are not the document
        return [known] if is_kept or not _is_required(found) else found
    if deed == "change" and len(found) < _FEWEST and (told or not found):
        return [known, _row(_NEW_LABEL)]
    return found or [known]


def _label(function: Sequence[str]) -> Row:
    thing = " ".join(function[1:][-_LABELLED:])
    name, descriptions, kind = _LABEL
    return row(name, descriptions.format(thing=thing), kind)


def _filled(found: list[Row], deed: Deed) -> list[Row]:
    """At least two parameters: to what the lexicon gives comes what goes with the deed."""
    filled = list(found)
    for filler in _FILLERS.get(deed, (_REMARK, _DETAIL)):
        if len(filled) >= _FEWEST:
            break
        filled.append(_row(filler))
    return filled


def _is_required(rows: Sequence[Row]) -> bool:
    return any(one.is_required for one in rows)


def _row(parts: tuple[str | int, ...]) -> Row:
    name, descriptions, kind, *values = parts
    return row(str(name), str(descriptions), str(kind), *values)
