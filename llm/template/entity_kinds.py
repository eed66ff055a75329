"""Which of the nine kinds of entities a parameter holds, told by its schema and by the words of its name."""

import re

from llm.language.kinds import kind_of as typed_kind_of
from llm.template.kinds import CLOCKED, PLACES, kind_by_words, kind_of, type_of
from llm.template.names import split_name
from warehouse.records import EntityKind, JsonSchema

_TYPED = frozenset({"date", "time", "date-time"})
_SONG = re.compile(r"\b(?:songs?|track|music piece)\b|歌曲|歌名|曲名|乐曲")
_SINGER = re.compile(r"\b(?:singers?|artist|musician|band)\b|歌手|演唱者|艺人|乐队|音乐人")
_PERSON = re.compile(r"\b(?:payer|visitor|neighbou?r|caller|colleague)\b|付款人|访客|邻居|同事")
_ORGANISATION = re.compile(
    r"\b(?:restaurant|cafe|shop|store|clinic|school|name on the invoice)\b|餐厅|饭店|商店|店铺|诊所|学校|发票抬头"
)
_STATION = re.compile(
    r"\b(?:station|stop|road|garage|terminal|address|airport|museum|hotel|beach|theat(?:er|re))\b|车站|站点|道路|路段|机场|酒店|海滩"
)
_BY_WORDS: tuple[tuple[re.Pattern[str], EntityKind], ...] = (
    (_PERSON, "person"),
    (_SINGER, "singer"),
    (_SONG, "song"),
    (_ORGANISATION, "company"),
    (_STATION, "location"),
)
_BY_KIND: dict[str, EntityKind] = {
    "person": "person",
    "company": "company",
    "product": "product",
    "plate": "plate",
    "code": "id_number",
    "pattern": "id_number",
    "card": "id_number",
    **dict.fromkeys(CLOCKED, "time"),
    **dict.fromkeys(PLACES, "location"),
}  # fmt: skip
_CODES = frozenset({"code", "pattern"})
_NO_ENTITY = frozenset({"pin", "phone", "email", "link", "file", "money", "year", "month", "country"})


def entity_of(name: str, schema: JsonSchema) -> EntityKind | None:
    """The kind of entity that a parameter of this name and schema holds, None where it holds none."""
    if type_of(schema) != "string" or schema.get("enum") or "const" in schema:
        return None
    if typed_kind_of(schema) in _TYPED:
        return "time"
    words = " ".join(split_name(name))
    told = f"{words} {str(schema.get('description') or '')[:60].lower()}"
    kind = kind_of(name, schema)
    if kind in _NO_ENTITY or kind_by_words(name, "") in _NO_ENTITY:
        return None
    if kind not in _CODES:
        for pattern, entity in _BY_WORDS:
            if pattern.search(told):
                return entity
    return _BY_KIND.get(kind)
