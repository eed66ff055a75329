"""Who asks, for whom, and the sentences around a request: the same lists are written from and read past."""

import re
from random import Random
from typing import NamedTuple


class Voice(NamedTuple):
    """How a request opens, and the word for the one who is helped."""

    opening: str
    whom: str


VOICES = {
    "myself": (
        Voice("I'm planning a trip and could use some help.", "me"),
        Voice("Hi! I'm about to travel on my own for the first time in years.", "me"),
        Voice("I have a few days off coming up.", "me"),
        Voice("Hello, I need a hand with my travel plans.", "me"),
    ),
    "friends": (
        Voice("My friends and I are going away together.", "us"),
        Voice("A friend of mine is planning a trip and asked me to help.", "them"),
        Voice("We are a group of friends looking forward to a break.", "us"),
        Voice("An old school friend of mine is travelling soon.", "them"),
    ),
    "family": (
        Voice("My sister and I are planning a trip.", "us"),
        Voice("My parents are celebrating their anniversary with a journey.", "them"),
        Voice("We're taking the kids on holiday.", "us"),
        Voice("My grandmother wants to see a bit of the world.", "her"),
    ),
    "company": (
        Voice("I'm arranging a business trip for a colleague.", "them"),
        Voice("Our team is going to a conference.", "us"),
        Voice("My manager is travelling for work.", "them"),
        Voice("Our company is sending two of us to meet a client.", "us"),
    ),
}
PLAIN_OPENINGS = ("Hello!", "Hi there!", "I could use some help.", "There is something I'd like to know.")
LEADS = ("", "Please ", "Could you ", "Can you ", "I'd like you to ")
LATER_LEADS = ("Then ", "After that, ", "Also, please ", "Please also ", "Next, ", "I also need you to ", "And please ")
LINKS = (" and ", ", and also ", ", and ", ", then ")
CLOSINGS = ("", "", "", "Thanks a lot!", "Thank you!", "That would be a great help.", "Many thanks.")
_TAIL = re.compile(
    r"(?:[\s,;.!?]|\b(?:and|then|also|please|next|after that|could you|can you|I'd like you to|I also need you to"
    r"|thanks a lot|thank you|many thanks|that would be a great help)(?![\w'])|(?<![\w'])And(?![\w']))+$",
    re.IGNORECASE,
)


def choose_voice(subject: str, *, travels: bool, rng: Random) -> Voice:
    """A voice for a subject of VOICES; one that says nothing of journeys where `travels` is not so."""
    voice = rng.choice(VOICES.get(subject) or VOICES["myself"])
    return voice if travels else Voice(rng.choice(PLAIN_OPENINGS), "me")


def trimmed(clause: str) -> str:
    """A clause without the words that lead to the next one, or that thank."""
    return _TAIL.sub("", clause).strip()
