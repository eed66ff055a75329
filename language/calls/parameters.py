"""What a parameter holds and what people call it: its meaning by schema and name, its cues, and the kind of entity."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from language.names import humanise, split_name
from language.packs import COMMON_SCRIPT, language_of, of, own_letters, script_of
from language.schemas import json_type, kind_of
from warehouse.records import EntityKind, JsonSchema, Language


class Cues(NamedTuple):
    """How to call a parameter when speaking of it, by script, and all phrases by which it is recognised."""

    by_script: Mapping[str, str]
    spoken: tuple[str, ...]

    def among(self, language: Language) -> str:
        """What to call it in this language."""
        return self.by_script.get(of(language).script) or self.by_script[COMMON_SCRIPT]


_IN_FULL = {
    "q": "search query", "repo": "repository", "org": "organization", "lat": "latitude", "lng": "longitude", "lon": "longitude",
    "dir": "directory", "desc": "description", "qty": "quantity", "addr": "address", "msg": "message", "tz": "time zone",
    "per page": "number of results per page", "tel": "phone number", "dob": "date of birth", "lang": "language",
}  # fmt: skip


@lru_cache(16384)
def cues_of(name: str, description: str) -> Cues:
    """The cues of a parameter; the name is always one, the description's head noun where it has a short one."""
    named = humanise(name)
    head = of(language_of(description)).rules.cue_of(description)
    by_script = {COMMON_SCRIPT: _IN_FULL.get(named, named)}
    for described in (own_letters(name), head):
        if described:
            by_script[script_of(described)] = described
    common = by_script[COMMON_SCRIPT]
    others = [described for script, described in by_script.items() if script != COMMON_SCRIPT]
    return Cues(by_script, tuple(dict.fromkeys(filter(None, (common, named, *others)))))


def short_forms(name: str) -> tuple[str, ...]:
    """Other short ways to speak of a parameter: its last word, and a code without its "ID" or "number"."""
    words = split_name(name)
    if len(words) == 1:
        return ()
    if words[-1] in ("id", "ids", "number", "no", "code"):
        lead = humanise("_".join(words[:-1]))
        return (f"{lead} ID", f"{lead} number", f"{lead} code", lead, "ID" if words[-1] == "id" else words[-1])
    return (humanise(words[-1]),)


NUMERIC = frozenset({"number", "money", "quantity", "percent", "year", "rating", "age", "measure", "duration"})
PLACES = frozenset({"origin", "destination", "place", "country", "address", "airport"})
CLOCKED = frozenset({"date", "time", "moment", "birthday", "month"})
CODED = frozenset({"code", "phone", "email", "link", "card", "airport", "currency", "plate", "file", "pin", "uuid"})

_FORMATS = {
    "date": "date", "date-time": "moment", "time": "time", "email": "email", "idn-email": "email", "uri": "link",
    "uuid": "uuid",
}  # fmt: skip


class _ParameterRule(NamedTuple):
    kind: str
    english: str  # whole words
    chinese: str


# the first rule that a name's words satisfy decides; the order is from the special to the general
_RULES = (
    _ParameterRule(
        "category", r"\w+ (type|method|class|category|mode|format|level|style)$", "(类型|类别|种类|方式|分类)$"
    ),
    _ParameterRule("details", r"\w+ (details|data|info|information|settings)$", "(详情|信息|资料|数据)$"),
    _ParameterRule("email", "e ?mail", "邮箱|邮件地址|电子邮件"),
    _ParameterRule(
        "phone", "phone|mobile|telephone|tel|fax|(block|unblock|forwarding|caller|contact) numbers?", "电话|手机"
    ),
    _ParameterRule("link", "url|uri|link|website|homepage", "网址|链接"),
    _ParameterRule("pin", "cvv|cvc|pin|otp", "验证码|密码"),
    _ParameterRule("card", "(credit|debit|payment|bank|card) ?card|card (number|no)", "银行卡|信用卡"),
    _ParameterRule("plate", "plate", "车牌"),
    _ParameterRule("airport", "airport( code)?|iata", "机场"),
    _ParameterRule(
        "code",
        "id|ids|code|codes|(number|numbers)(?! of)|no|num|version|sku|isbn|vin|uid|uuid|identifier|reference|token|passport",
        "编号|编码|单号|账号|帐号|账户|证件|证号|护照|身份证|学号|工号|航班号|车次|代码|标识|卡号|保单|户号|号码",
    ),
    _ParameterRule("birthday", "date of birth|birth ?day|birth ?date|dob", "生日|出生"),
    _ParameterRule("file", "file|file ?name|attachment", "文件(?!夹)|附件"),
    _ParameterRule("moment", "date ?time|timestamp|date and time", "日期时间|日期和时间|日期及时间"),
    _ParameterRule("date", "date|day|deadline|due", "日期|哪天|哪一天|截止日|到期日|时间范围"),
    _ParameterRule("month", "month|period|billing cycle", "月份|账期"),
    _ParameterRule("year", "year", "年份|年度"),
    _ParameterRule("quantity", "(party|family|group|team|household|class) size", "人数"),
    _ParameterRule("percent", "percent|percentage|rate|discount|ratio", "百分比|比例|折扣|利率"),
    _ParameterRule(
        "money",
        "(credit|overdraft|spending|withdrawal|transfer|new) limit"
        "|amount|price|cost|fee|salary|budget|income|premium|deposit|balance|payment|fare|tip|revenue|installment|instalment|value",
        "金额|价格|预算|费用|薪|工资|存款|余额|租金",
    ),
    _ParameterRule("rating", "rating|stars|score", "评分|星级|分数"),
    _ParameterRule("age", "age|ages", "年龄|岁数"),
    _ParameterRule(
        "duration", "duration|minutes|hours|days|nights|weeks|term|length of stay", "时长|分钟|小时|天数|几天|几晚|期限"
    ),
    _ParameterRule(
        "measure",
        "weight|length|width|height|size|distance|area|temperature|mileage|volume|speed|radius",
        "重量|体重|长度|宽度|高度|身高|距离|面积|温度|里程|音量",
    ),
    _ParameterRule(
        "quantity",
        "quantity|count|guests|people|adults|children|passengers|seats|rooms|copies|points|persons|tickets|servings"
        "|party size|limit",
        "数量|人数|份数|几个|张数|间数|次数|件数|个数",
    ),
    _ParameterRule("time", "time|hour|clock", "时间|几点|时段|钟点"),
    _ParameterRule("currency", "currency|currencies", "币种|货币"),
    _ParameterRule("language", "language|lang|locale", "语言|语种"),
    _ParameterRule(
        "company",
        "company|employer|provider|operator|organi[sz]ation|business|merchant|brand|firm|agency|carrier|airline|hospital|bank",
        "公司|企业|单位|商家|品牌|机构|医院|银行",
    ),
    _ParameterRule(
        "origin",
        "origin|departure|depart|from|source|start(ing)? (location|point|place|station)|pick ?up",
        "出发|始发|起点|起始地|上车",
    ),
    _ParameterRule("destination", "destination|arrival|to|drop ?off", "目的地|到达|终点|抵达|下车"),
    _ParameterRule("address", "address|street", "地址|住址|街道"),
    _ParameterRule("country", "country|nation|nationality", "国家|国籍"),
    _ParameterRule(
        "place",
        "city|town|location|place|region|area|venue|province|state|district",
        "城市|地点|地区|区域|位置|省份|所在地",
    ),
    _ParameterRule(
        "person",
        "((full|first|last|guest|passenger|patient|customer|user|employee|recipient|sender|contact|owner|holder"
        "|beneficiary|applicant|doctor|account|author|artist|singer|host|driver) ?name|recipients?|sender|contacts?"
        "|doctor|passenger|patient|attendees?|assignee|person|participants?|invitees?|friend|requested by)",
        "姓名|联系人|收件人|寄件人|医生|乘客|患者|名字|嘉宾|参与者|参加者|参会|受邀|同事|好友|作者|歌手",
    ),
    _ParameterRule("reason", "reason|cause|justification", "原因|理由|事由|缘由"),
    _ParameterRule(
        "message",
        "message|notes?|comments?|text|body|content|remarks?|feedback|review|memo",
        "消息|内容|备注|留言|评论|正文|评价|反馈|短信",
    ),
    _ParameterRule("problem", "issue|problem|complaint|symptoms?|damage|fault", "症状|故障|问题|投诉|损坏"),
    _ParameterRule("status", "status|stage", "状态|阶段|进度"),
    _ParameterRule("job", "job( title| name)?|position|occupation|profession", "职位|岗位|职业|工种"),
    _ParameterRule("task", "task|todo|to do|reminder|chore|errand", "事项|待办|提醒|任务"),
    _ParameterRule("title", "title|subject|topic|event|activity|meeting|headline", "标题|主题|活动|日程|会议"),
    _ParameterRule("product", "product|items?|goods|merchandise|commodity|article", "商品|产品|物品|货物|食材"),
    _ParameterRule("food", "dish|food|meal|cuisine|recipe|restaurant|ingredients?", "菜|食物|美食|餐|饮食"),
    _ParameterRule("music", "song|track|music|album|playlist", "歌曲|歌名|音乐|专辑|歌单"),
    _ParameterRule("film", "movie|film|show|series", "电影|影片|剧"),
    _ParameterRule("book", "book|novel", "图书|书名|小说"),
    _ParameterRule("query", "query|keywords?|search", "关键词|关键字|搜索词"),
    _ParameterRule(
        "category",
        "type|category|kind|class|method|mode|genre|style|level|format|option|preferences?|frequency|department",
        "类型|类别|种类|方式|等级|分类|风格|偏好|渠道|频率|部门",
    ),
    _ParameterRule("person", "^name$", "^名字$|^称呼$"),
    _ParameterRule(
        "details", "details|description|data|info|information|summary|preferences", "说明|描述|信息|详情|摘要"
    ),
)


@lru_cache(16384)
def meaning_by_words(name: str, description: str) -> str:
    """The kind that the words of a name tell, else those of the description; "text" where neither tells any."""
    words = " ".join(split_name(name))
    return _by_rules(words) or _by_rules(description.lower()[:60]) or "text"


def meaning_of(name: str, schema: JsonSchema) -> str:
    """The kind of thing that a parameter of this name and schema holds."""
    kind = _by_schema(schema)
    described = meaning_by_words(name, str(schema.get("description", "")))
    if kind == "number":
        return described if described in NUMERIC else "number"
    return kind or described


def _by_schema(schema: JsonSchema) -> str:
    if "const" in schema or schema.get("enum"):
        return "choice"
    declared = json_type(schema)
    if declared in ("boolean", "array", "object"):
        return declared
    if declared in ("integer", "number"):
        return "number"
    pattern = str(schema.get("pattern", ""))
    if pattern:
        return _by_pattern(pattern)
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    return ""


def _by_pattern(pattern: str) -> str:
    clock = "[0-5]\\d" in pattern or "[0-5][0-9]" in pattern
    day = "\\d{4}-\\d{2}" in pattern or "[0-9]{4}-[0-9]{2}" in pattern
    if clock:
        return "moment" if day else "time"
    if day:
        return "date" if pattern.count("-") - pattern.count("0-9") > 1 else "month"
    return "pattern"


def _by_rules(words: str) -> str:
    return next((kind for kind, rule in _compiled() if rule.search(words)), "")


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((rule.kind, re.compile(rf"\b(?:{rule.english})\b|{rule.chinese}")) for rule in _RULES)


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
    if json_type(schema) != "string" or schema.get("enum") or "const" in schema:
        return None
    if kind_of(schema) in _TYPED:
        return "time"
    words = " ".join(split_name(name))
    described = f"{words} {str(schema.get('description') or '')[:60].lower()}"
    kind = meaning_of(name, schema)
    if kind in _NO_ENTITY or meaning_by_words(name, "") in _NO_ENTITY:
        return None
    if kind not in _CODES:
        for pattern, entity in _BY_WORDS:
            if pattern.search(described):
                return entity
    return _BY_KIND.get(kind)
