"""Whether the user turns to something else: drops what was talked of, or gives another command instead of an answer."""

import re

from llm.template.commands import command_in

_DROPS = re.compile(
    r"^(?:(?:oh|wait|oh wait|sorry|actually|hmm|well|ok|okay|you know what|hold on|no|before that|but|then)[,.!]?\s+)*"
    r"(?:never ?mind|(?:forget|leave|drop|skip) (?:about )?(?:it|that|this)(?=[.,!;:]|\s+(?:now|then)\b)"
    r"|let's (?:drop|skip|leave|forget) (?:it|that|this)|(?:that|this|it) can wait|let's not do|another thing|oh no,"
    r"|(?:i need |i want )?(?:something|one) (?:else|other thing))[^.!?]*[.!?]?\s*"
    r"|^[^。！？]{0,8}(?:算了|不弄这个|放一?放|这?个?不用了|不说这个|别的事|另一件事|回头再说|换件事|换个事|不办了|先不管)"
    r"[^。！？]*[。！？]\s*",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:(?:hey|hi|hello|please|assistant|quick one)[,:]?\s+)*"
    r"(?:(?:can|could|would|will) you (?:please |help me |kindly )*|i(?:'d like| would like| want| need| have)(?: you)? to "
    r"|i was hoping you could |i'm trying to |help me |please )"
    r"|^(?:请|帮我|麻烦|我想|我要|能帮|能不能|可以|你好|小助手|劳驾|给我|我需要|我打算)",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:that|this|it|the same|again|instead)\b|再来|同样|照刚才|其他不变|改成|改为|换成", re.IGNORECASE
)


def new_request(text: str) -> str:
    """The words in which a user who was asked something asks for something else; "" where the talk goes on."""
    dropped = _DROPS.search(text)
    if dropped and text[dropped.end() :].strip():
        return text[dropped.end() :].strip()
    stripped = text.strip()
    command = command_in(stripped) if _ASKS.match(stripped) else ""
    return stripped if command and not _AGAIN.search(command) else ""


def is_dropped(text: str) -> bool:
    """Whether the user says outright that what was talked of is dropped."""
    return _DROPS.search(text) is not None
