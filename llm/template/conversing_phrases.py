"""How template/v1 talks in conversations: the shapes of users' and assistants' turns, in English and Chinese.

`{r}` is a request, `{f}` the field, `{c}` what a value is called and `{C}` the same with a capital, `{v}` the value,
`{a}` and `{b}` actions, `{l}` a list of values.
"""

from typing import NamedTuple

from warehouse.records import Language


class ConversationBook(NamedTuple):
    """The shapes of one language."""

    joints: tuple[str, ...]  # a second request in one turn
    linked: tuple[str, ...]  # a second request for what the first one finds
    again: tuple[str, ...]  # the same for other values
    hints: tuple[str, ...]
    situations: tuple[str, ...]  # what opens a description
    plights: tuple[str, ...]  # and what ends it
    facts: tuple[str, ...]
    flags: tuple[str, ...]
    asides: tuple[str, ...]
    approvals: tuple[str, ...]
    switches: tuple[str, ...]
    corrections: tuple[str, ...]
    retries: tuple[str, ...]
    more: tuple[str, ...]
    surrenders: tuple[str, ...]
    thanks: tuple[str, ...]
    which: tuple[str, ...]
    proposals: tuple[str, ...]
    done: tuple[str, ...]
    told: tuple[str, ...]
    errors: tuple[str, ...]
    others: tuple[str, ...]  # whether another value would do
    refusals: tuple[str, ...]
    nods: tuple[str, ...]
    answers: tuple[str, str]  # no and yes
    joint: str
    space: str


ENGLISH = ConversationBook(
    joints=("Also, {r}", "And one more thing: {r}", "After that, {r}", "While you are at it, {r}"),
    linked=("Then, with the {c} that you find, {r}", "And for the {c} that comes up, {r}", "With the {c} from that, {r}"),
    again=("And the same with {l} as the {c}.", "Then the same again with {l} as the {c}.", "Do that for {l} as the {c} too."),
    hints=(
        "There is something about {f} that I have to take care of.", "I have a matter with {f}.",
        "It's about {f} again.", "I've got something to sort out, it's about {f}.",
    ),
    situations=(
        "So here is where I stand with {f}.", "I'm in a bit of a muddle with {f}.",
        "Things are a little messy on my side with {f}.",
        "This one has been on my mind all day, it's about {f}.",
    ),
    plights=("I don't know where to begin.",
             "I'm a bit lost here.", "I can't get any further by myself.", "It's all too much for me today."),
    facts=("The {c} is {v}.", "As for the {c}, it's {v}.", "The {c} I have is {v}."),
    flags=("{C}: {v}.",),
    asides=("By the way, the {c} of something else is {v}.", "My neighbour keeps going on about {v}, but never mind.",
            "Somebody mentioned {v} to me this morning, not that it matters."),
    approvals=("Yes, please.", "Yes.", "Sure, please.", "Okay.", "Yes, please. Go ahead."),
    switches=("Actually, forget that. {r}", "Oh, forget about that. {r}", "Never mind that, something else: {r}"),
    corrections=("Actually, make it {v} as the {c} instead.", "Sorry, the {c} should be {v} instead.",
                 "I mean {v} as the {c}, not that one."),
    retries=("Then try {v} as the {c}.", "How about {v} as the {c}?", "Let's try it with {v} as the {c}."),
    more=("Good. With that {c}, {r}", "Great, then with this {c}, {r}", "Okay, and for that {c}: {r}"),
    surrenders=("Leave it for now, then.", "Then there's nothing to be done. Leave it.", "All right, I give up on it for today."),
    thanks=("Thanks, that's all.", "Great, thank you!", "Perfect, thanks a lot.", "Cheers, that's all I wanted."),
    which=("Would you like me to {a}, or to {b}?", "Do you want me to {a} or to {b}?", "Is it that you want to {a}, or to {b}?"),
    proposals=("I would {a} now: {l}. Shall I go ahead?", "To be sure, I am about to {a}: {l}. Is that right?"),
    done=("Done.", "All set.", "Here is what I have.", "That's done."),
    told=("{C}: {v}.",),
    errors=("That didn't work: {e}.", "I'm afraid it failed: {e}.", "It went wrong: {e}."),
    others=("Would another {c} do?", "Do you have another {c} that I could try?", "Shall I try another {c}, and which one?"),
    refusals=("Sorry, I can't {a}; none of my tools does that.", "I'm sorry, but I have no way to {a}.",
              "Unfortunately I am not able to {a}."),
    nods=("You're welcome.", "Of course, any time.", "All right.", "No problem at all."),
    answers=("no", "yes"), joint=", ", space=" ",
)  # fmt: skip

CHINESE = ConversationBook(
    joints=("另外，{r}", "还有一件事：{r}", "然后{r}", "顺便{r}"),
    linked=("然后用查到的{c}，{r}", "再用找到的{c}，{r}"),
    again=("{c}换成{l}也做一遍。", "{c}为{l}的也一样来一次。"),
    hints=("{f}那边有点事要处理。", "又是{f}的事情。", "我这儿有件跟{f}有关的事。"),
    situations=("{f}这件事是这样的。", "我在{f}上有点乱。", "{f}的事让我头疼一天了。"),
    plights=("不知道从哪儿开始。", "我有点没头绪。", "我自己弄不下去了。"),
    facts=("{c}是{v}。", "{c}为{v}。", "{c}：{v}。"),
    flags=("{c}：{v}。",),
    asides=("对了，别的事情的{c}是{v}。", "邻居老说起{v}，不过不管它。", "今天早上有人提到{v}，不过没关系。"),
    approvals=("好的。", "可以。", "是的。", "好的，谢谢。"),
    switches=("算了，先不管那个。{r}", "那个不要了，换一件事：{r}"),
    corrections=("抱歉，{c}改成{v}。", "说错了，{c}应该是{v}。", "不对，{c}改为{v}。"),
    retries=("那{c}用{v}试试。", "{c}试试{v}。"),
    more=("好的，就用这个{c}，{r}", "那就用这个{c}，{r}"),
    surrenders=("那就先算了。", "好吧，今天就放弃了。"),
    thanks=("谢谢，就这些。", "太好了，谢谢！", "好的，多谢。"),
    which=("您是想{a}，还是想{b}？", "要我{a}，还是{b}？"),
    proposals=("我这就{a}：{l}。可以吗？", "跟您确认一下，我将{a}：{l}。对吗？"),
    done=("办好了。", "已完成。", "结果如下。"),
    told=("{c}：{v}。",),
    errors=("没有成功：{e}。", "很遗憾，操作失败：{e}。"),
    others=("要换一个{c}吗？", "您有别的{c}可以试试吗？"),
    refusals=("抱歉，我不能{a}，没有工具可以做这件事。", "对不起，我没有办法{a}。"),
    nods=("不客气。", "好的。", "没问题。"),
    answers=("否", "是"), joint="，", space="",
)  # fmt: skip
CONVERSATION_BOOKS: dict[Language, ConversationBook] = {"en": ENGLISH, "zh": CHINESE}
