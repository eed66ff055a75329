"""Everyday words that mean much the same, and the words of a text that show what it is about, each with its weight."""

import re
from functools import cache, lru_cache
from itertools import pairwise

from language.names import words
from language.packs import packs_of
from language.vocabulary import deep_stem

_ENGLISH = (
    "query check view see look find search retrieve get show know tell list browse lookup detail information",
    "buy purchase order shop",
    "book reserve reservation booking",
    "cancel revoke withdraw undo",
    "taxi cab car ride uber vehicle drive",
    "route navigate navigation direction way map",
    "violation illegal fine offence",
    "bus transit metro subway tram",
    "train railway rail",
    "flight plane airline air fly",
    "hotel room accommodation stay lodging",
    "restaurant eat dining dinner lunch food meal dish",
    "doctor hospital medical clinic physician",
    "medicine drug prescription",
    "remind reminder",
    "alarm wake clock",
    "appointment schedule meeting conference",
    "event concert show performance",
    "message text sms chat",
    "mail email inbox letter",
    "call phone dial telephone ring",
    "music song track tune play listen",
    "video movie film watch clip",
    "photo picture image camera shoot",
    "note memo write",
    "document file doc paper",
    "weather forecast temperature rain sunny",
    "air quality pollution",
    "stock share trade",
    "fund invest investment",
    "bank account balance",
    "pay payment settle bill",
    "money cash fund amount",
    "transfer send remit",
    "loan mortgage borrow",
    "insurance policy cover claim",
    "tax duty",
    "price cost fee fare quote expensive",
    "discount coupon voucher promotion deal offer",
    "parcel package shipment courier express delivery deliver ship",
    "track tracking status progress where",
    "address location place site",
    "return refund",
    "complain complaint report",
    "fault broken breakdown problem issue noise",
    "review rate rating comment evaluate feedback opinion score",
    "favourite favorite collect bookmark save like",
    "job work position employ career recruit",
    "resume cv",
    "salary wage pay income",
    "house home apartment flat rent rental property",
    "bike bicycle cycle shared",
    "parking park lot",
    "scenic attraction sight tourist spot tour travel trip",
    "ticket admission pass",
    "seat chair",
    "luggage baggage bag suitcase",
    "news article headline magazine newspaper",
    "book novel read reading",
    "course class lesson study learn train",
    "fitness exercise workout gym sport run",
    "diet nutrition calorie food eat",
    "health wellness body",
    "temperature heat heating cool thermostat",
    "light lamp brightness",
    "volume sound mute silent loud noise",
    "lock unlock door",
    "open launch start turn enable activate",
    "close stop end disable deactivate quit off",
    "create make new add set build establish",
    "delete remove erase clear drop",
    "update change modify edit adjust alter amend revise",
    "share forward post publish",
    "download upload import export",
    "translate translation language",
    "license licence permit certificate",
    "register registration sign enroll apply application",
    "recommend suggestion suggest recommendation",
    "nearby near around nearest closest surrounding",
    "history past previous record log",
    "friend contact people person",
    "invite invitation guest",
    "fast quick quickest shortest fastest",
    "number id code",
    "name title",
    "date day time when",
    "plan program itinerary",
)  # fmt: skip
_CHINESE = (
    "查询 查看 搜索 获取 查找 看看 查一下 查下 了解 知道 看一下 找一下 搜一下 搜搜 找找 检索 浏览 查查",
    "购买 买 下单 订购 选购 采购",
    "预订 预定 预约 订 约 定个 订个",
    "取消 撤销 撤回 退订",
    "打车 叫车 专车 出租车 网约车 快车 用车 约车",
    "导航 路线 怎么走 怎么去 带我去 地图",
    "违章 违法 罚单 交通违规",
    "公交 巴士 公车 公交车",
    "地铁 轻轨",
    "火车 高铁 动车 列车 车票",
    "航班 飞机 机票 飞",
    "酒店 宾馆 旅馆 住宿 民宿 客栈",
    "餐厅 饭店 餐馆 吃饭 美食 好吃 外卖 点餐 点外卖",
    "医院 医生 大夫 看病 挂号 就诊 门诊",
    "药品 药 处方",
    "提醒 闹钟 叫醒 叫我",
    "日程 会议 开会 安排 日历",
    "演唱会 音乐会 演出",
    "消息 短信 微信 信息 聊天",
    "邮件 邮箱 电子邮件",
    "电话 拨打 通话 打给 来电 呼叫",
    "音乐 歌曲 歌 听歌 放首 曲子 播放",
    "视频 电影 影片 看片",
    "照片 图片 相片 拍照 相册 拍",
    "笔记 便签 备忘 记录 记下",
    "文档 文件 资料",
    "天气 气温 下雨 晴天 温度 预报",
    "股票 炒股 大盘 证券",
    "基金 理财 投资",
    "银行 账户 余额 存款",
    "支付 缴费 付款 交费 缴纳 付钱 充值",
    "转账 汇款 打钱",
    "贷款 按揭 借款",
    "保险 保单 理赔 投保",
    "税 纳税 报税",
    "价格 多少钱 费用 票价 报价 花费",
    "优惠 优惠券 折扣 打折 红包 券",
    "快递 包裹 物流 寄件 邮寄 寄",
    "进度 状态 到哪 进展",
    "地址 位置 地点",
    "退货 退款 售后",
    "投诉 举报 反馈 申诉",
    "故障 坏了 异常 问题 损坏 毛病",
    "评价 评论 打分 评分 点评",
    "收藏 喜欢 关注 点赞",
    "招聘 职位 工作 岗位 求职",
    "简历",
    "工资 薪资 薪水",
    "租房 房子 买房 房源 房产 楼盘 小区",
    "单车 自行车 骑行 共享单车",
    "停车 车位",
    "景点 景区 旅游 游玩 旅行 出游",
    "门票 票",
    "行李 托运",
    "新闻 资讯 报道 杂志 报纸 头条",
    "图书 书籍 小说 看书 读书 阅读",
    "课程 上课 选课 学习 课",
    "健身 运动 锻炼 跑步",
    "饮食 热量 卡路里 食物",
    "健康 身体 指标",
    "灯光 亮度 灯 开灯",
    "音量 声音 静音 大声",
    "打开 开启 启动 开一下 开",
    "关闭 停止 关掉 退出 关",
    "创建 新建 建立 添加 增加 新增 加上 设置 设个 建个",
    "删除 移除 清除 删掉 去掉",
    "修改 更改 更新 编辑 调整 变更 改成 改一下",
    "分享 转发 发布 发送 发给 发",
    "下载 上传 导入 导出",
    "翻译 译成 译文",
    "驾照 驾驶证 证件 行驶证 执照 许可",
    "报名 注册 申请 办理 登记",
    "推荐 介绍 建议 有什么",
    "附近 周边 最近的 周围 旁边",
    "历史 记录 以前 过去",
    "联系人 好友 朋友 通讯录",
    "邀请 受邀",
    "汽车 车辆 车型 开车 二手车",
    "政策 法规 规定 条例",
)  # fmt: skip


@cache
def english_groups() -> dict[str, int]:
    """The group of each stem; a word of two groups stands in the first."""
    groups: dict[str, int] = {}
    for number, group in enumerate(_ENGLISH):
        for word in group.split():
            groups.setdefault(deep_stem(word), number)
    return groups


@cache
def chinese_groups() -> dict[str, int]:
    """The group of each word, long words first; a word of two groups stands in the first."""
    groups: dict[str, int] = {}
    for number, group in enumerate(_CHINESE):
        for word in group.split():
            groups.setdefault(word, number)
    return {word: groups[word] for word in sorted(groups, key=len, reverse=True)}


_LATIN = re.compile(r"[^\W_\u3400-\u9fff]+")
_HAN = re.compile("[\u4e00-\u9fff]+")
EMPTY = frozenset(
    words(
        "a an the of to in on for with by and or at from as is are be it its this that my me i you your can could"
        " would please want need like help s use using user given about do does what which any all if whether hi"
        " hey let us am was were will so just so its their his her our there here have has had been im id ive"
        " quick time"
    )
)
_EMPTY_PAIRS = frozenset(
    {
        "的名",
        "名称",
        "用户",
        "进行",
        "一个",
        "我的",
        "帮我",
        "请帮",
        "能帮",
        "我想",
        "想请",
        "请你",
        "麻烦",
        "你帮",
        "小助",
        "助手",
    }
)
_LOOKING = 0  # the first group of both languages: looking something up, which nearly every tool does
_GROUP = 0.8
_PAIR = 0.8
_CHARACTER = 0.12
_PLAIN = 1.0
_FAINT = 0.22


def is_empty(word: str, text: str) -> bool:
    """Whether a word of `text` tells nothing of what it is about."""
    return word in EMPTY or word in packs_of(text)[0].words.get("stop_words", frozenset())


@lru_cache(8192)
def weigh_words(text: str) -> dict[str, float]:
    """English stems, Chinese pairs and characters, and the groups of the thesaurus, by weight. Not to be changed."""
    weights: dict[str, float] = {}
    groups = english_groups()
    for word in _LATIN.findall(text.lower()):
        if is_empty(word, text):
            continue
        root = deep_stem(word)
        group = groups.get(root)
        weights[root] = _FAINT if group == _LOOKING else _PLAIN
        if group is not None:
            weights[f"en {group}"] = _FAINT if group == _LOOKING else _GROUP
    for run in _HAN.findall(text):
        _weigh_chinese(run, weights)
    return weights


def _weigh_chinese(run: str, weights: dict[str, float]) -> None:
    groups = chinese_groups()
    for match in chinese_words().finditer(run):
        group = groups[match.group()]
        weights[f"zh {group}"] = _FAINT if group == _LOOKING else _PLAIN
    for pair in map("".join, pairwise(run)):
        if pair not in _EMPTY_PAIRS:
            weights[pair] = _FAINT if groups.get(pair) == _LOOKING else _PAIR
    for character in run:
        weights.setdefault(character, _CHARACTER)


@cache
def chinese_words() -> re.Pattern[str]:
    """Finds the words of the thesaurus in Chinese text, long ones first."""
    return re.compile("|".join(chinese_groups()))
