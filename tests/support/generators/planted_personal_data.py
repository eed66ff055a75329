"""Conversations with personal data that code has planted, half of it in words alone, half in a call
too.

Strange names are of other countries than those whose names are known.
"""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from faker import Faker

from callwright.generators.taken import CALL
from callwright.language.calls.parameters import chinese_names
from callwright.language.packs import of
from callwright.warehouse.records import CallTurn, GoldCall, Sample, Tool, UserTurn

STRANGE = ("sv_SE", "da_DK", "fi_FI", "cs_CZ", "ro_RO", "tr_TR")
NOTE = Tool(
    name="write_note",
    description="Write a note.",
    category="Notes",
    parameters={
        "type": "object",
        "properties": {
            "customer_name": {"type": "string", "description": "Who it is about."},
            "address": {"type": "string", "description": "Where they live."},
            "email": {"type": "string", "description": "Their mail."},
            "phone": {"type": "string", "description": "Their number."},
            "text": {"type": "string", "description": "The note."},
        },
    },
)
_NAMED = {
    "name": "customer_name",
    "strange name": "customer_name",
    "address": "address",
    "mail": "email",
    "phone": "phone",
}
_SAID = {
    "name": (
        "Please book a table for {}.",
        "My name is {} and I need help.",
        "Send it to {} by Friday.",
        "Hi, {} here, where is it?",
    ),
    "address": (
        "Deliver it to {} please.",
        "We have moved, it is {} now.",
        "Is there a taxi near {}?",
    ),
    "mail": (
        "You can write to {} any time.",
        "Send the invoice to {}.",
        "It's {}, not the old one.",
    ),
    "phone": ("Call me at {} tonight.", "My number is {}.", "Text {} when you are there."),
    "card": ("Charge it to {} please.", "My card is {}, thanks.", "Use {} for the payment."),
    "iban": ("Transfer it to {} today.", "My account is {}.", "Refund to {}, please."),
    "secret": (
        "Use the key {} for it.",
        "The token is {}, keep it safe.",
        "Log in with {} please.",
    ),
}


class Planted(NamedTuple):
    """A conversation, the kind of what is planted in it, its value, and whether a call has it
    under a name of its own.
    """

    sample: Sample
    kind: str
    value: str
    is_called: bool


def plant(count: int, seed: int) -> Iterator[Planted]:
    """So many conversations, each kind in turn."""
    Faker.seed(seed)
    rng, english = Random(seed), Faker(["en_US", "en_GB"])
    strangers = [Faker(one) for one in STRANGE]
    made = {
        "name": lambda: english.name().split(". ")[-1],
        "strange name": lambda: (
            f"{rng.choice(strangers).first_name()} {rng.choice(strangers).last_name()}"
        ),
        "address": lambda: english.address().replace("\n", ", "),
        "mail": english.email,
        "phone": english.phone_number,
        "card": english.credit_card_number,
        "iban": english.iban,
        "secret": lambda: _secret(rng),
    }
    kinds = [*made]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        value = made[kind]()
        said = rng.choice(_SAID[kind.removeprefix("strange ")]).format(value)
        is_called = number % (2 * len(kinds)) < len(kinds)
        argument = _NAMED.get(kind, "text") if is_called else "text"
        given = value if argument != "text" or is_called else "A note."
        call = GoldCall(tool=NOTE.name, arguments={argument: given})
        turns = (UserTurn(text=said), CallTurn(calls=(call,)))
        yield Planted(
            Sample(kind=CALL, language="en", category="Notes", candidates=(NOTE.key,), turns=turns),
            kind,
            value,
            is_called,
        )


_SAID_IN_CHINESE = (
    "帮我约{}周五晚上吃饭。",
    "你好，我叫{}，想改一下预约。",
    "收件人是{}，地址不变。",
    "把这份合同发给{}。",
    "通知{}明天的会取消了。",
    "今晚跟{}去看电影，帮我买票。",
    "{}的电话是多少？",
    "给{}打电话。",
    "乘车人姓名：{}。",
    "我同事{}要去上海出差。",
    "帮我查一下{}的航班。",
    "提醒{}带护照。",
    "我妈妈{}要住院三天。",
    "{}下周一到北京。",
)


def plant_chinese(count: int, seed: int) -> Iterator[Planted]:
    """Names in Chinese words: of people whose given names Faker knows, and strange ones that it
    does not.
    """
    rng = Random(seed)
    families, given = chinese_names()
    strange = [name for name in of("zh").data["values"]["first_names"] if name not in given]
    for number in range(count):
        kind, names = (("Chinese name", sorted(given)), ("strange Chinese name", strange))[
            number % 2
        ]
        value = rng.choice(sorted(one for one in families if len(one) == 1)) + rng.choice(names)
        is_called = number % 4 > 1
        arguments = {"customer_name": value} if is_called else {"text": "A note."}
        turns = (
            UserTurn(text=rng.choice(_SAID_IN_CHINESE).format(value)),
            CallTurn(calls=(GoldCall(tool=NOTE.name, arguments=arguments),)),
        )
        sample = Sample(
            kind=CALL, language="zh", category="Notes", candidates=(NOTE.key,), turns=turns
        )
        yield Planted(sample, kind, value, is_called)


def _secret(rng: Random) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    shapes = {
        "AKIA": (16, letters[:26] + letters[52:]),
        "ghp_": (36, letters),
        "sk-proj-": (40, letters),
        "xoxb-": (30, letters + "-"),
        "glpat-": (20, letters),
    }
    start = rng.choice(sorted(shapes))
    length, alphabet = shapes[start]
    return start + "".join(rng.choice(alphabet[:-1]) for _ in range(length))
