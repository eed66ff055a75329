"""The grammar of corrections: how people take a value back, or want the same once more with another.

`{c}` is what the parameter is called, `{C}` the same with a capital, `{v}` the new value in words, `{o}` the old one.
"""

from typing import NamedTuple

from warehouse.records import Language


class CorrectionShapes(NamedTuple):
    """The shapes of one situation in one language."""

    named: tuple[str, ...]  # the parameter is called by its name
    taken: tuple[str, ...]  # the old value tells which parameter is meant
    bare: tuple[str, ...]  # the value alone can only mean one parameter
    framed: tuple[str, ...]  # words that speak for themselves, "with breakfast"
    plain: tuple[str, ...]  # unmistakable, for the last attempts


_SAME_TURN_EN = CorrectionShapes(
    named=(
        "Sorry, the {c} is {v}.", "No wait, the {c} should be {v}.", "Actually, make the {c} {v}.",
        "Oh no, I meant {v} as the {c}.", "Scratch that, use {v} as the {c}.", "Correction: the {c} is {v}.",
        "Hmm no, the {c} has to be {v}.", "I mean, the {c} is {v}.", "Sorry, I got the {c} wrong, it is {v}.",
        "Wait, let me change the {c} to {v}.", "On second thought, the {c} should be {v}.",
    ),
    taken=(
        "Sorry, not {o}: the {c} is {v}.", "Wait, I said {o}, but the {c} should be {v}.",
        "No, scratch {o}. The {c} is {v}.",
    ),
    bare=(
        "Sorry, I mean {v}.", "No, {v}.", "Actually, make it {v}.", "I mean {v}.", "No wait, make that {v}.",
        "Sorry, {v}.", "Scratch that, {v}.", "Actually, {v}.", "On second thought, make it {v}.",
    ),
    framed=(
        "Sorry, I meant {v}.", "No wait, {v}.", "Actually, {v}.", "On second thought, {v}.", "I mean {v}.", "Scratch that: {v}.",
    ),
    plain=("Sorry, the {c} is {v}.", "I mean, {c}: {v}."),
)  # fmt: skip
_OWN_TURN_EN = CorrectionShapes(
    named=(
        "I was wrong before: the {c} should be {v}.", "Wait, I got the {c} wrong, it is {v}.",
        "Hold on, please change the {c} to {v}.", "Sorry, I need to correct something first: the {c} is {v}.",
        "One correction first. The {c} should be {v}.", "Actually, can we make the {c} {v}?",
        "Oh, I made a mistake earlier. The {c} is {v}.", "Before I answer that, set the {c} to {v} instead.",
        "Hang on, what I said was wrong. The {c} is {v}.", "I changed my mind about the {c}: make it {v}.",
        "Could you use {v} as the {c} instead?", "Sorry, the {c} I gave you is wrong. It should be {v}.",
    ),
    taken=(
        "Sorry, I said {o} before, but the {c} is {v}.", "Wait, not {o}. The {c} should be {v}.",
        "Let me take {o} back: the {c} is {v}.",
    ),
    bare=("Actually, make that {v}.", "Sorry, I meant {v} before.", "Wait, I meant {v}.", "I said that wrong, I mean {v}."),
    framed=(
        "I was wrong before: {v}, please.", "One correction first: {v}.", "Oh, wait. I'd rather have it {v}.",
        "Actually, I changed my mind: {v}.", "Sorry, before that: {v}, please.",
    ),
    plain=("I was wrong before. The {c} is {v}.", "Sorry, {c}: {v}."),
)  # fmt: skip
_AFTER_CALL_EN = CorrectionShapes(
    named=(
        "Do the same with {v} as the {c}.", "Now the same again, but the {c} is {v}.", "And what if the {c} is {v}?",
        "I'd also like that with {v} as the {c}.", "Same thing once more, this time the {c} is {v}.",
        "Could you do that again with the {c} set to {v}?", "Once more, please, only make the {c} {v}.",
        "Thanks. Now again, but the {c} should be {v}.", "Great, and the same where the {c} is {v}.",
        "Can you repeat that with {v} as the {c}?", "And again with another {c}: {v}.",
        "I need that a second time, with {v} as the {c}.",
    ),
    taken=(
        "Now the same, but instead of {o} the {c} is {v}.", "And once more, not with {o}: the {c} should be {v}.",
    ),
    bare=("And now with {v}?", "Same again, but make it {v}.", "And the same for {v}, please."),
    framed=(
        "Now the same again, but {v}.", "And once more {v}, please.", "Do that again, {v} this time.",
        "Thanks. I'd also like that {v}.",
    ),
    plain=("The same again, please. The {c} is {v}.", "Once more. {C}: {v}."),
)  # fmt: skip
_SAME_TURN_ZH = CorrectionShapes(
    named=(
        "不对，{c}是{v}。", "抱歉，{c}应该是{v}。", "说错了，{c}是{v}。", "哦不，{c}改成{v}。", "更正一下，{c}是{v}。",
        "不好意思，{c}是{v}。", "等等，{c}改为{v}。", "哎呀，{c}搞错了，是{v}。", "我是说，{c}是{v}。", "口误，{c}应该是{v}。",
    ),
    taken=("不对，不是{o}，{c}是{v}。", "说错了，不是{o}，{c}应该是{v}。"),
    bare=("不对，是{v}。", "哦不，{v}。", "说错了，是{v}。", "我是说{v}。", "抱歉，应该是{v}。", "不对不对，是{v}。"),
    framed=("不对，{v}。", "说错了，{v}。", "哦不，还是{v}。", "我是说{v}。", "抱歉，{v}。"),
    plain=("抱歉，{c}是{v}。", "不对，{c}：{v}。"),
)  # fmt: skip
_OWN_TURN_ZH = CorrectionShapes(
    named=(
        "刚才说错了，{c}应该是{v}。", "等一下，{c}要改成{v}。", "先更正一下，{c}是{v}。", "抱歉，前面的{c}不对，应该是{v}。",
        "我前面弄错了，{c}是{v}。", "对了，{c}改为{v}。", "先等等，{c}改成{v}。", "我改主意了，{c}用{v}。",
        "不好意思，我之前说的{c}有误，应该是{v}。", "先别急，{c}我记错了，是{v}。", "麻烦把{c}改成{v}。",
    ),
    taken=("刚才说的{o}不对，{c}应该是{v}。", "等等，不是{o}，{c}是{v}。"),
    bare=("刚才说错了，应该是{v}。", "等等，改成{v}。", "前面不对，是{v}。"),
    framed=("我改主意了，{v}。", "刚才说错了，{v}。", "先更正一下，{v}。", "等一下，还是{v}。"),
    plain=("刚才说错了，{c}是{v}。", "更正一下，{c}：{v}。"),
)  # fmt: skip
_AFTER_CALL_ZH = CorrectionShapes(
    named=(
        "再来一次，{c}改成{v}。", "同样的再办一次，这次{c}是{v}。", "照刚才的再做一遍，{c}用{v}。", "还要再来一遍，{c}是{v}。",
        "那{c}是{v}的话呢？", "其他不变，{c}改成{v}再来一次。", "谢谢。再弄一个，{c}改为{v}。", "另外再来一个，{c}为{v}。",
        "好的，那再帮我来一次，{c}应该是{v}。", "还想要一个，{c}填{v}。",
    ),
    taken=("再来一次，这回不是{o}，{c}是{v}。", "同样的，把{o}去掉，{c}改成{v}。"),
    bare=("再来一次，改成{v}。", "那{v}呢？", "同样的再来一次，这次{v}。"),
    framed=("再来一次，这次{v}。", "同样的再办一次，{v}。", "另外再来一个，{v}。"),
    plain=("再来一次，{c}是{v}。", "再来一次，{c}：{v}。"),
)  # fmt: skip
CORRECTIONS: dict[tuple[str, Language], CorrectionShapes] = {
    ("SO_case1", "en"): _SAME_TURN_EN,
    ("SO_case2", "en"): _OWN_TURN_EN,
    ("mSv", "en"): _AFTER_CALL_EN,
    ("SO_case1", "zh"): _SAME_TURN_ZH,
    ("SO_case2", "zh"): _OWN_TURN_ZH,
    ("mSv", "zh"): _AFTER_CALL_ZH,
}
