"""The grammar of questions for one parameter and of the answers to them, in English and Chinese.

`{c}` is what the parameter is called, `{v}` the value in words, `{u}` what a number counts, `{o}` options to choose from.
Shapes by kind that do not name the parameter are for tools in which only one parameter is of that kind.
"""

from typing import NamedTuple

from warehouse.records import Language

Shapes = tuple[str, ...]


class SlotBook(NamedTuple):
    """The shapes of one language."""

    questions: Shapes  # for any parameter, by its name
    named: dict[str, Shapes]  # by its name and its kind
    unnamed: dict[str, Shapes]  # by its kind alone
    counted: Shapes  # for a number of something
    options: Shapes  # for a choice among few
    flags: Shapes  # for a yes or no
    last_option: str  # between the last two options
    next_option: str
    bare: Shapes  # hardly more than the value
    bare_by_kind: dict[str, Shapes]
    bare_count: Shapes
    sentences: Shapes  # the value and what it is for
    sentences_by_kind: dict[str, Shapes]
    yes: Shapes
    no: Shapes


ENGLISH = SlotBook(
    questions=(
        "Could you tell me the {c}?", "Can you give me the {c}?", "Please tell me the {c}.", "Let me know the {c}, please.",
        "I still need the {c}, please.", "Happy to. Could you tell me the {c}?",
    ),
    named={
        "name": ("Which {c} is it?", "Which {c} do you mean?", "What is the {c}?", "Which {c} shall I take?"),
        "called": ("What is the {c}?", "What's the {c}?", "Sure. What is the {c}?", "What would the {c} be?"),
        "fact": ("What is the {c}?", "Which {c} is it?", "What's the {c}?", "What {c} shall I put down?"),
        "code": (
            "What is the {c}?", "Could you read me the {c}?", "Do you have the {c} at hand?", "Can I have the {c}, please?",
            "What's the {c}?", "Please give me the {c}.", "May I have the {c}, please?",
            "For that I need the {c}, please.",
        ),
        "message": ("What should the {c} say?", "What shall I put down as the {c}?", "What is the {c}?"),
        "date": ("What is the {c}?", "Which day shall I take as the {c}?", "What {c} suits you?", "What should the {c} be?"),
        "time": ("What is the {c}?", "What {c} suits you?", "What should the {c} be?", "What {c} would you like?"),
        "person": ("Who is the {c}?", "What's the name of the {c}?", "Who should be the {c}?"),
        "place": ("Which {c} do you mean?", "What is the {c}?", "Which {c} is it?", "Which {c} would you like?"),
        "choice": (
            "Which {c} would you like?", "What {c} would you like?", "Which {c} shall I take?", "What should the {c} be?",
            "Sure. Which {c} would you like?",
        ),
        "number": ("What is the {c}?", "What should the {c} be?", "What {c} would you like?", "What {c} shall I set?"),
        "array": ("What are the {c}?", "What should I put down as {c}?", "Which {c} should I take?"),
        "object": ("Could you give me the details of the {c}?", "Can you tell me about the {c}?"),
    },
    unnamed={
        "date": ("On which day?", "Which day would that be?", "For which date?", "What day works for you?"),
        "time": ("At what time?", "What time would that be?", "What time works for you?"),
        "moment": ("When exactly, which day and what time?", "On which day and at what time?"),
        "origin": ("Where from?", "Where do you start from?"),
        "destination": ("Where to?", "Where would you like to go?"),
        "money": ("How much should it be?", "How much would that be?"),
        "person": ("Who should that be?", "Who is it for?"),
        "address": ("What is the exact address?", "Which address is it?"),
        "email": ("Which email address should I use?", "What is the email address?"),
    },
    counted=("How many {u}?", "How many {u} should it be?", "How many {u} would that be?"),
    options=(
        "Which {c} would you like: {o}?", "What should the {c} be: {o}?", "Which {c} shall I take, {o}?",
        "Which {c} is it: {o}?",
    ),
    flags=("Would you like {c}?", "Do you want {c}?", "Should it be with {c}?"),
    last_option=" or ",
    next_option=", ",
    bare=("{v}", "{v}.", "{v}, please.", "It's {v}.", "{v}, thanks.", "That would be {v}."),
    bare_by_kind={
        "date": ("{v}.", "{v}, please.", "On {v}.", "Let's say {v}.", "It should be {v}.", "{v} works for me.", "{v}"),
        "time": ("{v}.", "{v}, please.", "At {v}.", "Let's say {v}.", "{v} works for me.", "{v}"),
        "moment": ("{v}.", "{v}, please.", "Let's say {v}.", "{v} works for me."),
        "category": ("{v}.", "{v}, please.", "{v}"),
        "choice": ("{v}.", "{v}, please.", "I'd like {v}.", "I'll take {v}.", "Let's go with {v}.", "{v} sounds good.", "{v}"),
        "number": ("{v}.", "{v}, please.", "Let's say {v}.", "It's {v}.", "{v} would be good.", "{v}"),
        "place": ("{v}.", "{v}, please.", "It's {v}.", "{v}", "In {v}."),
        "address": ("{v}.", "It's {v}.", "{v}", "That would be {v}."),
        "origin": ("{v}.", "From {v}.", "From {v}, please.", "{v}"),
        "destination": ("{v}.", "To {v}.", "To {v}, please.", "{v}"),
        "code": ("{v}.", "It's {v}.", "{v}", "Sure, it's {v}.", "That's {v}.", "Here it is: {v}."),
        "person": ("{v}.", "{v}, please.", "It's {v}.", "{v}"),
        "message": ("{v}", "{v}.", "Just write: {v}.", "Put down: {v}.", "Please write {v}."),
        "array": ("{v}.", "{v}, please.", "Just {v}.", "{v}"),
        "object": ("{v}.", "{v}"),
    },
    bare_count=("{v} {u}.", "{v} {u}, please.", "{v} {u}", "It's {v} {u}.", "Let's say {v} {u}."),
    sentences=(
        "The {c} is {v}.", "The {c} should be {v}.", "My {c} is {v}.", "Please take {v} as the {c}.", "For the {c}, use {v}.",
        "The {c} would be {v}.", "{C}: {v}.", "I'd like {v} as the {c}.", "Sure, the {c} is {v}.",
    ),
    sentences_by_kind={
        "number": (
            "The {c} is {v}.", "The {c} should be {v}.", "{C}: {v}.", "Please take {v} as the {c}.", "The {c} would be {v}.",
        ),
        "fact": ("The {c} is {v}.", "{C}: {v}.", "I'd say the {c} is {v}.", "Please take {v} as the {c}."),
        "called": ("The {c} is {v}.", "{C}: {v}.", "The {c} would be {v}.", "The {c} here is {v}."),
        "name": ("The {c} is {v}.", "{C}: {v}.", "The {c} would be {v}.", "Sure, the {c} is {v}."),
        "place": ("The {c} is {v}.", "{C}: {v}.", "The {c} would be {v}.", "Please take {v} as the {c}.", "My {c} is {v}."),
        "code": ("The {c} is {v}.", "My {c} is {v}.", "{C} {v}.", "Sure, the {c} is {v}.", "{C}: {v}.", "The {c} here is {v}."),
        "message": ("The {c} should be {v}.", "The {c} is {v}.", "Put down {v} as the {c}.", "{C}: {v}."),
        "array": ("The {c}: {v}.", "{C}: {v}."),
        "object": ("The {c}: {v}.", "{C}: {v}."),
        "boolean": ("{C}: {v}.",),
    },
    yes=("Yes.", "Yes, please.", "Yes", "Sure."),
    no=("No.", "No, thanks.", "No", "No, thank you."),
)  # fmt: skip

CHINESE = SlotBook(
    questions=(
        "请告诉我{c}。", "请提供{c}。", "麻烦说一下{c}。", "方便说一下{c}吗？", "可以告诉我{c}吗？", "还差{c}，麻烦说一下。",
        "好的，请告诉我{c}。", "还需要您提供{c}。",
    ),
    named={
        "name": ("请问是哪个{c}？", "您说的是哪个{c}？", "{c}是什么？", "好的，请问是哪个{c}？"),
        "called": ("请问{c}是什么？", "{c}是什么？", "{c}叫什么？", "好的，{c}是什么？"),
        "fact": ("{c}是什么？", "请问{c}是哪种？", "{c}是怎样的？", "{c}怎么填？"),
        "code": (
            "请问{c}是多少？", "{c}是多少？", "麻烦报一下{c}。", "您的{c}是多少？", "方便提供一下{c}吗？", "好的，{c}是多少？",
            "请报一下{c}。",
        ),
        "message": ("{c}写什么？", "{c}怎么写？", "请问{c}是什么？", "{c}要写些什么？"),
        "date": ("{c}是哪天？", "{c}是哪一天？", "请问{c}定在哪天？", "{c}选哪天？", "好的，{c}是哪天？"),
        "time": ("{c}是几点？", "请问{c}是几点？", "{c}定在几点？", "{c}选几点？"),
        "moment": ("{c}是什么时候？", "请问{c}是哪天几点？", "{c}定在什么时候？"),
        "person": ("{c}是谁？", "请问{c}是哪位？", "{c}叫什么名字？", "好的，{c}是谁？"),
        "place": ("{c}是哪里？", "请问{c}是哪儿？", "{c}在哪里？", "好的，{c}是哪里？"),
        "choice": ("{c}选哪个？", "请问要哪种{c}？", "{c}想要哪种？", "您想选什么{c}？", "好的，{c}选哪个？"),
        "number": ("{c}是多少？", "请问{c}是多少？", "{c}要多少？", "{c}设成多少？"),
        "array": ("{c}有哪些？", "请问{c}都有什么？", "{c}写哪些？"),
        "email": ("请问{c}是什么？", "{c}是多少？"),
        "object": ("请说一下{c}的具体信息。", "麻烦提供一下{c}的信息。"),
    },
    unnamed={
        "date": ("哪一天？", "请问是哪天？", "您想选哪天？", "定在哪天呢？"),
        "time": ("几点？", "请问几点？", "您看几点合适？", "定在几点呢？"),
        "moment": ("什么时候，哪天几点？", "请问是哪天几点？"),
        "origin": ("从哪里出发？", "您从哪儿出发？"),
        "destination": ("要去哪里？", "您要去哪儿？"),
        "money": ("多少钱？", "请问金额是多少？"),
        "person": ("是谁呢？", "请问是哪位？"),
        "address": ("请问详细地址是什么？", "地址在哪儿？"),
        "email": ("请问邮箱地址是什么？",),
    },
    counted=("一共{u}？", "请问{u}？", "{u}呢？"),
    options=("{c}选哪个，{o}？", "请问{c}要哪种：{o}？", "{c}有{o}，您选哪个？", "您想选什么{c}，{o}？"),
    flags=("要{c}吗？", "需要{c}吗？", "请问要不要{c}？"),
    last_option="还是",
    next_option="、",
    bare=("{v}", "{v}。", "就{v}。", "是{v}。", "{v}吧。"),
    bare_by_kind={
        "date": ("{v}。", "{v}", "{v}吧。", "就{v}吧。", "定在{v}。", "{v}就行。"),
        "time": ("{v}。", "{v}", "{v}吧。", "就{v}吧。", "定在{v}。", "{v}就行。"),
        "moment": ("{v}。", "{v}", "就{v}吧。", "定在{v}。"),
        "choice": ("{v}。", "{v}", "要{v}。", "选{v}吧。", "就{v}吧。", "{v}就好。"),
        "number": ("{v}。", "{v}", "{v}吧。", "就{v}吧。", "{v}就够了。"),
        "place": ("{v}。", "{v}", "是{v}。", "就在{v}。"),
        "origin": ("{v}。", "从{v}出发。", "{v}", "从{v}走。"),
        "destination": ("{v}。", "去{v}。", "{v}", "到{v}。"),
        "code": ("{v}", "{v}。", "是{v}。", "好的，{v}。"),
        "person": ("{v}。", "{v}", "是{v}。"),
        "message": ("{v}", "{v}。", "就写：{v}。"),
        "array": ("{v}。", "{v}"),
        "object": ("{v}。", "{v}"),
    },
    bare_count=("{v}{u}。", "{v}{u}", "{v}{u}吧。", "就{v}{u}。"),
    sentences=(
        "{c}是{v}。", "{c}为{v}。", "{c}就用{v}。", "我的{c}是{v}。", "{c}：{v}。", "{c}填{v}吧。", "{c}选{v}。", "{c}用{v}。",
    ),
    sentences_by_kind={
        "fact": ("{c}是{v}。", "{c}：{v}。", "{c}填{v}吧。"),
        "called": ("{c}是{v}。", "{c}：{v}。", "{c}叫{v}。", "{c}就填{v}。"),
        "name": ("{c}是{v}。", "{c}：{v}。", "{c}就填{v}。", "{c}是{v}，谢谢。"),
        "place": ("{c}是{v}。", "{c}在{v}。", "{c}：{v}。", "{c}就在{v}。"),
        "person": ("{c}是{v}。", "{c}叫{v}。", "{c}：{v}。"),
        "code": ("{c}是{v}。", "我的{c}是{v}。", "{c}：{v}。", "{c} {v}。", "好的，{c}是{v}。"),
        "message": ("{c}就写{v}。", "{c}是{v}。", "{c}写{v}。", "{c}：{v}。"),
        "date": ("{c}是{v}。", "{c}定在{v}。", "{c}：{v}。", "{c}就{v}吧。", "{c}选{v}。"),
        "time": ("{c}是{v}。", "{c}定在{v}。", "{c}：{v}。", "{c}就{v}吧。", "{c}选{v}。"),
        "choice": ("{c}选{v}。", "{c}是{v}。", "{c}要{v}。", "{c}：{v}。", "{c}就{v}吧。"),
        "number": ("{c}是{v}。", "{c}为{v}。", "{c}：{v}。", "{c}就{v}吧。", "{c}设为{v}。"),
        "array": ("{c}：{v}。", "{c}有{v}。"),
        "object": ("{c}：{v}。",),
        "boolean": ("{c}：{v}。",),
    },
    yes=("要。", "要的。", "需要。", "要"),
    no=("不要。", "不用。", "不需要。", "不要"),
)  # fmt: skip
SLOT_BOOKS: dict[Language, SlotBook] = {"en": ENGLISH, "zh": CHINESE}
