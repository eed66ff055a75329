"""What a Chinese description says: the action, and the phrase that people call a parameter by."""

import re

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
_CLAUSE = re.compile(
    r"[.,;:(（，。；：!?？、\n]|\s-\s|默认|例如|[Dd]efaults?\b|比如|\b(?:e\.g|i\.e|such as|like|default|defaults)\b|，?如(?!何|果)"
)
_HEAD = re.compile("^(?:用户的?|用户要|要|需要|想要|具体的?|指定的?|请?输入|当前的?|被|对应的?|目标)")
_YES_NO = re.compile(
    r"^(?:a )?(?:boolean|flag)?\s*(?:indicat\w+|specif\w+)?\s*(?:whether|if|set to true|true)\b|^(?:enable|turn on|allow)\b|^是否",
    re.IGNORECASE,
)


def action_of(name: str, description: str) -> str:
    """What to ask of the tool, "" where the description says nothing short."""
    text = _FRAME.sub("", _ASIDE.sub("", description).strip())
    text = _LEAD.sub("", text)
    clause = _END.split(text, maxsplit=1)[0].strip()
    clause = re.sub("用户的?", "我的", clause)
    clause = re.sub("(?:指定|特定|相关|所有)的?", "", clause)
    return clause if _HAN.search(clause) and len(clause) <= _MOST_CHARACTERS else ""


def other_actions(phrase: str) -> tuple[str, ...]:
    """The same action with other verbs."""
    verb = next((verb for verb in _SYNONYMS if phrase.startswith(verb)), "")
    return tuple(other + phrase[len(verb) :] for other in _SYNONYMS.get(verb, ()))


def cue_of(description: str) -> str:
    """The phrase that people call a parameter by, "" where the description has none that is short."""
    if _YES_NO.search(description):
        return ""
    clause = _CLAUSE.split(description.strip(), maxsplit=1)[0].strip()
    head = _HEAD.sub("", clause)
    return head if _HAN.search(head) and 1 < len(head) <= _LONGEST_CUE else ""
