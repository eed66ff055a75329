"""Chinese phrases for values: templates by kind, with slots in braces that name a list of words."""

from language.names import words

PLACES = words(
    "北京 上海 广州 深圳 杭州 南京 苏州 无锡 宁波 温州 成都 重庆 武汉 长沙 南昌 合肥 福州 厦门 泉州 西安 兰州"
    " 西宁 银川 太原 石家庄 天津 济南 青岛 烟台 郑州 洛阳 沈阳 大连 长春 哈尔滨 呼和浩特 乌鲁木齐 昆明 大理 丽江"
    " 贵阳 南宁 桂林 海口 三亚 珠海 佛山 东莞 绍兴 嘉兴 扬州 徐州 常州 镇江 芜湖 九江 宜昌 绵阳 遵义 威海 唐山"
    " 保定 开封 拉萨 汕头 湛江 柳州 株洲 金华 台州"
)
COUNTRIES = words(
    "日本 韩国 泰国 越南 新加坡 马来西亚 印度尼西亚 印度 澳大利亚 新西兰 加拿大 墨西哥 巴西 智利 德国 法国 意大利"
    " 西班牙 葡萄牙 希腊 荷兰 比利时 瑞士 奥地利 挪威 瑞典 丹麦 芬兰 冰岛 波兰 埃及 肯尼亚 土耳其"
)
LAST_NAMES = list("赵钱孙李周吴郑王冯陈蒋沈韩杨朱秦许何吕张孔曹严金魏陶姜谢邹章苏潘葛范彭马方袁柳史唐薛雷贺汤罗郝邵毛")
FIRST_NAMES = words(
    "子涵 雨桐 浩然 思远 佳宁 文博 晓彤 志强 建华 丽娜 欣怡 俊杰 梓萱 宇航 梦琪 国栋 秀英 海燕 嘉豪 诗琪 明轩"
    " 若曦 天佑 静怡 立新 春梅 振宇 婉清 博文 雅楠 鹏飞 淑芬 晨曦 一鸣 可欣 永康 慧敏 泽宇 乐天 安琪"
)
LISTS = {
    "colour": ["黑色", "白色", "灰色", "深蓝色", "绿色", "红色", "银色", "米色", "棕色", "橙色", "紫色"],
    "trait": ["便携", "折叠", "防水", "无线", "轻便", "二手", "实木", "可充电", "静音", "加厚"],
    "thing": words(
        "耳机 双肩包 台灯 咖啡机 办公椅 雨衣 手机壳 书架 保温杯 瑜伽垫 键盘 雨伞 行李箱 头盔 电热水壶 榨汁机"
        " 三脚架 跑鞋 相框 帐篷 睡袋 烤箱 挂钟 工具箱 毛毯 画板 显示器 空气炸锅 鼠标 风扇"
    ),
    "errand": words(
        "给花浇水 交电费 取快递 还图书馆的书 给车做保养 预约洗牙 打扫阳台 遛狗 买猫粮 续签停车证 寄合同 换床单"
        " 打印登机牌 更新预算表 扔垃圾 修自行车 拿备用钥匙 包生日礼物 给相机充电 校对报告 磨菜刀 清洗空调"
        " 量客厅尺寸 给妈妈打电话 买邮票 备份电脑 订蛋糕 洗窗帘 交作业 整理发票"
    ),
    "topic": words(
        "预算 设计 市场 招聘 安全 新人 产品 客户 供应商 质量 差旅 园艺 环保 节能 摄影 数据 销售 售后 品牌 社区"
        " 读书 亲子"
    ),
    "gathering": words("评审会 研讨会 启动会 规划会 复盘会 说明会 圆桌会 开放日 培训 分享会 头脑风暴 演示会 交流会"),
    "job": words(
        "教师 软件工程师 护士 数据分析师 建筑师 项目经理 电工 厨师 会计 产品设计师 销售经理 翻译 店长 质检员 司机"
    ),
    "rank": ["初级", "高级", "资深", "助理", "区域"],
    "fault": words(
        "噪音很大 打不开 总是重启 漏水 有焦味 发烫 卡住了 闪个不停 黑屏了 充不了电 一用就跳闸 反应很慢 老是断网"
    ),
    "device": words(
        "洗衣机 暖气 路由器 门锁 吸顶灯 洗碗机 电梯 空调 淋浴 打印机 冰箱 电视 烟雾报警器 车库门 水龙头 窗帘 门铃"
    ),
    "change": words("改到下周了 取消了 不合适了 和家里的安排冲突 费用太高 不需要了 订重复了 要推到春天 选错了"),
    "plan": words("行程 会议 婚礼 年会 预约 课程 演唱会 送货 搬家 合同 项目 维修 考试 面试"),
    "cook": ["红烧", "清蒸", "麻辣", "糖醋", "香煎", "凉拌", "蒜蓉", "干锅", "葱油", "酱爆"],
    "dish": words("排骨 鲈鱼 豆腐 茄子 鸡翅 牛肉 虾仁 土豆 白菜 羊肉 面条 藕片 木耳 鸭肉 菌菇"),
    "mood": words("银色 金色 遥远的 安静的 破碎的 丝绒 霓虹 深红 空旷的 无尽的 北方的 纸上的 午夜 荒野的"),
    "image": words("河流 山谷 灯笼 地平线 花园 镜子 港口 回声 草原 罗盘 冬天 惊雷 果园 灯塔 沙漠"),
    "quality": ["便宜的", "安静的", "适合亲子的", "评分高的", "入门级", "复古", "环保", "现代风格", "户外", "素食"],
    "sought": words(
        "登山鞋 爵士酒吧 吉他课 共享办公 城市徒步 桌游 露营装备 语言课程 钢琴老师 烹饪课 挂画 跑步路线 面包店 科普播客"
    ),
    "firm": ["科技", "物流", "文化", "食品", "机械", "咨询", "纺织", "能源", "传媒", "光学", "贸易"],
    "brand": words("恒远 明德 青禾 云帆 启辰 华泽 金穗 蓝桥 盛景 同舟 新月 百川 东篱 瑞川 星野"),
    "road": words("人民路 中山路 解放路 建设路 文化路 和平街 长江路 滨河路 学院路 花园街 新华路 青年路 朝阳街 长青路"),
    "friend": FIRST_NAMES,
    "minutes": ["五", "十", "十五", "二十", "三十", "四十"],
    "spot": ["正门", "地铁口", "前台", "停车场", "侧门", "咖啡馆", "公交站", "大厅"],
    "home": ["两居室", "联排别墅", "街角小店", "小作坊", "单身公寓", "农家院", "餐车"],
    "extra": ["带花园", "靠近车站", "刚换业主", "正在装修", "带车位", "首次登记", "联系方式已更新"],
}
TEMPLATES = {
    "company": ["{brand}{firm}", "{brand}{firm}公司"],
    "reason": ["{plan}{change}"],
    "message": [
        "我会晚到{minutes}分钟", "请在{spot}等我", "{friend}会带{thing}来", "麻烦你帮我{errand}", "我们{spot}见",
        "{colour}{thing}放在{spot}了", "谢谢你的{dish}", "{friend}顺路{errand}", "告诉{friend}{thing}在{spot}",
        "我把{colour}{thing}落在{spot}了", "别忘了{errand}", "{plan}{change}",
    ],
    "problem": ["{device}{fault}"],
    "task": ["{errand}", "买{colour}{thing}", "给{friend}看{topic}表", "做{cook}{dish}"],
    "title": ["{topic}{gathering}", "春季{topic}{gathering}", "第一期{topic}{gathering}", "{place}{topic}{gathering}"],
    "job": ["{job}", "{rank}{job}"],
    "product": ["{colour}{thing}", "{trait}{thing}", "{trait}{colour}{thing}"],
    "food": ["{cook}{dish}"],
    "music": ["{mood}{image}"],
    "film": ["{mood}{image}", "{place}的{image}"],
    "book": ["{place}的{image}", "{mood}{image}"],
    "query": ["{quality}{sought}", "{sought}"],
    "details": ["按电话里说好的办", "和上次一样", "详见附件", "{friend}知道这件事", "其他都不变", "改动前先联系{friend}"],
    "details claim": ["{device}{fault}把厨房淹了", "暴雨把屋顶砸坏了", "自行车在{spot}被偷了", "行李在{place}丢了"],
    "details alert": ["余额不足", "新手机登录", "账单已出"],
    "details opinion": ["服务热情但房间有点吵", "做事可靠学得快", "早餐丰富风景也好"],
    "details order": ["{cook}{dish}不要辣", "{cook}{dish}多放葱", "{dish}少油少盐"],
    "details preference": ["高楼层安静的房间", "不要推销短信", "靠走道的座位", "只发短信通知"],
    "details occasion": ["花园里的生日聚餐", "{topic}{gathering}", "和{friend}第一次见面"],
    "details home": ["{home}{extra}"],
    "details person": ["{friend}住在{place}", "去年春天搬到了{place}"],
    "details application": ["从{place}搬来", "材料都已附上", "由{friend}代领", "请邮寄"],
    "message opinion": ["物美价廉", "好用但有点吵", "{colour}的更好看"],
    "reason health": ["胸口很痛", "手腕骨折", "高烧不退", "一直咳嗽"],
    "reason leaving": ["搬去{place}", "在{place}找到了新工作", "回学校读书"],
    "reason return": ["收到时已经坏了", "尺码不对", "少了配件", "颜色和图片不一样"],
    "status service": ["启用", "停用"],
    "category payment": ["信用卡", "储蓄卡", "银行转账", "现金"],
    "category room": ["单人间", "双人间", "大床房", "套房", "家庭房"],
    "category cabin": ["经济舱", "商务舱", "头等舱"],
    "category frequency": ["每天", "每周", "每月", "每年"],
    "category insurance": ["家财险", "寿险", "旅行险", "车险"],
    "category visa": ["旅游", "学生", "商务", "工作"],
    "status": ["待处理", "已完成", "进行中", "已取消", "暂停", "已批准", "已送达"],
    "category": ["标准", "高级", "基础", "家庭", "加急", "学生", "商务", "季节", "豪华"],
    "language": ["中文", "英语", "德语", "法语", "西班牙语", "日语", "韩语", "葡萄牙语"],
    "text": ["{colour}{image}", "{topic}{image}", "{mood}{image}"],
}  # fmt: skip
