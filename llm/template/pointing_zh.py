"""Chinese phrases that point at a message: who it is from, what it is called by entity, and where it was told."""

from llm.template.phrases_zh import FIRST_NAMES
from llm.template.word_lists import words

PEOPLE = (
    *words(
        "我妈 我爸 我姐 我哥 我妹妹 我弟弟 姑姑 舅舅 表姐 房东"
        " 室友 同事 主管 班主任 助理 客户 教练 导游 物业 隔壁邻居 老同学 我老婆 我老公"
    ),
    *FIRST_NAMES,
)
NOUNS = {
    "person": words("那个人 那位 联系人"),
    "company": words("那家公司 那家店 那家单位"),
    "product": words("那样东西 那件东西 物品"),
    "plate": words("车牌号 车牌"),
    "id_number": words("编号 号码 那个号码"),
    "date": words("那天 日期 那个日子"),
    "time": words("时间 那个时间 钟点"),
    "moment": words("日期和时间 具体时间 时间"),
    "city": words("城市 那个城市 地方"),
    "address": words("地址 详细地址 新地址"),
    "location": words("那个地方 地方 地点 那个地点"),
    "song": words("那首歌 歌曲 那支曲子"),
    "singer": words("那位歌手 歌手"),
}
OWN_NOUNS = words("餐厅 诊所 酒店 道路 车站 站点 海滩")  # a parameter called so lends its name
ADJECTIVES = {key: [""] for key in NOUNS}
WHERE = {
    "sms": ("{n}短信里说的", "{n}发短信告诉我的", "{n}短信里提到的", "{n}发给我的短信里写的"),
    "email": ("{n}邮件里写的", "{n}发给我的邮件里提到的", "{n}邮件里说的", "{n}来信里提到的"),
    "instant_messaging": ("{n}聊天时发我的", "{n}在聊天里说的", "我和{n}聊天记录里的", "{n}发消息告诉我的"),
    "social_media": ("{n}朋友圈里发的", "{n}动态里提到的", "{n}在社交平台上发的", "{n}帖子里写的"),
    "notebook": ("我记事本里写的", "我记在本子上的", "我备忘录里记的", "我笔记里写的"),
    "calendar": ("我日历里记的", "{n}日程邀请里写的", "日历上标的"),
    "voicemail": ("{n}语音留言里说的", "{n}留言告诉我的", "语音信箱里{n}说的"),
    "photo_caption": ("{n}照片配文里写的", "{n}照片下面写的"),
}
ELSEWHERE = ("{n}消息里说的", "{n}消息里提到的")
