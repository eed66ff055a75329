"""What is said around a shift: how the user turns away, how the assistant declines or says that it is done."""

import re
from collections.abc import Mapping

from warehouse.records import Language

# The request that follows begins as its own writer began it, so each opener ends where a sentence may begin.
OPENERS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Never mind that. ", "Oh, leave it. ", "Wait, something else first. ", "Let's drop this. ", "Hold on, that can wait. ",
        "You know what, forget it. ", "Sorry, I need something else now. ", "Before that, one other thing. ",
        "Hmm, let's not do this now. ", "Oh wait, forget about that. ", "Actually, this can wait. ", "Skip that. ",
    ),
    "zh": (
        "算了，先不弄这个了。", "等一下，这个先放放。", "哎，这个不用了。", "先不说这个了。", "哦对了，还有件别的事。",
        "不好意思，换件事。", "这事回头再说。", "停一下，我有别的事。", "算了。", "这个先不管了。",
    ),
}  # fmt: skip
REFUSALS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Sorry, none of my tools can do that.", "I'm sorry, I have no tool for this.",
        "Sorry, that is beyond what my tools can do.", "I'm sorry, but none of the tools I have here fits that request.",
        "Sorry, I can't help with that: no tool of mine does it.",
    ),
    "zh": (
        "抱歉，我的工具都做不了这件事。", "不好意思，我这里没有能办这件事的工具。", "对不起，现有的工具不支持这个请求。",
        "抱歉，这件事没有合适的工具，我办不了。", "很抱歉，我手头的工具帮不上这个忙。",
    ),
}  # fmt: skip
# None of these asks anything: a later shift must not take them for an open question.
DONE: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Done.",
        "All done.",
        "That's done for you.",
        "OK, it's done.",
        "It has gone through.",
        "Taken care of.",
        "There you go.",
    ),
    "zh": ("好的，办好了。", "已完成。", "已经弄好了。", "好了，搞定了。", "操作成功。", "已为您办妥。"),
}
_ASKS = re.compile(
    r"[?？]|\b(?:please|which|what|when|where|who|whom|how|tell me|let me know|could you|i need|missing|still need)\b"
    r"|请|哪|什么|多少|几|谁|告诉|提供|需要知道|还差|还缺|还需要|吗|呢",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """Whether the assistant's words leave something for the user to answer."""
    return _ASKS.search(text) is not None
