"""The grammar of requests: openers and the shapes of clauses, in English and Chinese.

`{a}` is the action, `{c}` what the parameter is called, `{C}` the same with a capital, `{v}` the value in words.
"""

from typing import NamedTuple

from warehouse.records import Language


class Phrasebook(NamedTuple):
    """The shapes of one language."""

    openers: tuple[str, ...]  # a whole request without arguments; the mark at its end comes off when more follows
    wishes: tuple[str, ...]  # the same, but the speaker does it: they do not go with "show me the list"
    sentences: tuple[str, ...]  # an argument in a sentence of its own
    clauses: tuple[str, ...]  # several arguments in one sentence
    inline: tuple[str, ...]  # arguments that are told by their shape, right behind the action
    listed: tuple[str, ...]  # lists and objects, last
    plain: tuple[str, ...]  # unmistakable, for the last attempts
    frame: str  # words that speak for themselves, "with breakfast", in a sentence of their own
    answers: tuple[str, str]  # no and yes
    joint: str
    last_joint: str
    stop: str
    closers: tuple[str, ...]
    quotes: tuple[tuple[str, str], ...]
    route: tuple[str, ...]
    fillers: tuple[str, ...]  # in front of arguments that stand by themselves


ENGLISH = Phrasebook(
    openers=(
        "Please {a}.", "Can you {a}?", "Hey, {a}.", "{A}.", "Could you please {a}?", "Would you {a}?", "{A}, please.",
        "Quick one: {a}.", "I was hoping you could {a}.", "I'd like you to {a}.", "Can you please {a}?", "Hi, could you {a}?",
    ),
    wishes=(
        "Could you {a}?", "I'd like to {a}.", "I need to {a}.", "I want to {a}.", "Help me {a}.", "I have to {a}.",
        "Can you help me {a}?", "Hi, I would like to {a}.", "I'm trying to {a}.", "I'd like some help to {a}.",
    ),
    sentences=(
        "The {c} is {v}.", "{C}: {v}.", "Use {v} as the {c}.", "The {c} should be {v}.", "Set the {c} to {v}.",
        "Make the {c} {v}.", "Take {v} for the {c}.", "My {c} is {v}.", "I want {v} as the {c}.", "As {c}, use {v}.",
    ),
    clauses=("the {c} is {v}", "the {c} should be {v}", "{v} as the {c}", "{c}: {v}", "the {c} is {v}"),
    inline=("with {c} {v}", "{c} {v}", "with {v} as the {c}"),
    listed=("The {c}: {v}.", "{C}: {v}."),
    plain=("{C}: {v}.", "The {c} is {v}."),
    frame="Please do it {v}.",
    answers=("no", "yes"),
    joint=", ",
    last_joint=" and ",
    stop=".",
    closers=("Thanks!", "Thank you.", "That is all.", "Cheers!", "Much appreciated."),
    quotes=(('"', '"'), ("“", "”"), ("«", "»"), ("'", "'")),
    route=("from {o} to {d}",),
    fillers=("", "", "Here are the details: ", "To be exact: ", "Some details: "),
)  # fmt: skip

CHINESE = Phrasebook(
    openers=(
        "请帮我{a}。", "帮我{a}。", "麻烦{a}。", "我想{a}。", "我要{a}。", "能帮我{a}吗？", "可以{a}吗？", "{a}。", "我需要{a}。",
        "你好，{a}。", "小助手，{a}。", "劳驾，帮我{a}一下。", "麻烦你{a}，谢谢。", "现在{a}。", "请{a}。", "我打算{a}。",
        "给我{a}。", "能不能{a}？", "我这边要{a}。", "想请你{a}。",
    ),
    wishes=(),
    sentences=(
        "{c}是{v}。", "{c}：{v}。", "{c}为{v}。", "{c}设为{v}。", "{c}填{v}。", "我的{c}是{v}。", "{c}用{v}。", "{c}就写{v}。",
    ),
    clauses=("{c}是{v}", "{c}：{v}", "{c}为{v}", "{c}用{v}", "{c}填{v}"),
    inline=("{c}{v}", "{c}是{v}", "{c} {v}"),
    listed=("{c}：{v}。", "{c}有：{v}。"),
    plain=("{c}：{v}。", "{c}是{v}。"),
    frame="{v}。",
    answers=("不要", "要"),
    joint="，",
    last_joint="，",
    stop="。",
    closers=("谢谢！", "谢谢。", "就这些。", "辛苦了！", "麻烦了。"),
    quotes=(("“", "”"), ("「", "」"), ('"', '"'), ("『", "』")),
    route=("从{o}到{d}", "从{o}去{d}"),
    fillers=("", "", "具体是：", "要求如下：", "信息如下："),
)  # fmt: skip
PHRASEBOOKS: dict[Language, Phrasebook] = {"en": ENGLISH, "zh": CHINESE}
