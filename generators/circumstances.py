"""What makes one answer of a model unlike the others: who asks, where, on what day, and how they begin.

Prompts carry the seed number of what they are for; template/v1 draws by it. A model that reads learns nothing from a number, so in
its place it is shown circumstances that code draws by it: the same number, the same circumstances, on whatever machine.
"""

import re
from collections.abc import Collection
from datetime import timedelta
from random import Random
from string import ascii_uppercase

import orjson

from callwright.language.calls.meanings import fake
from callwright.language.calls.sampling import FIRST_DAY, LAST_DAY
from callwright.llm.chat import Prompt

_SEED = re.compile(r"^<seed>(-?\d+)</seed>$", re.MULTILINE)
_FRAME = (
    "<circumstances> are those of this one answer and set it apart from others: let them decide what is wanted, which values are "
    "given and which words are used, but do not tell of them. The day is the one on which this is said: days that are meant lie "
    "around it, before or after as the matter wants, and are said as dates, since whoever reads it does not know what day it is. "
    "Names that you make up (people, places, firms, titles) begin with one of the letters, where nothing else decides them."
)
_OPENING = " What is said opens as <circumstances> has it, where that sounds natural."
_PLACES = (
    "at a desk, between two calls", "on a crowded train", "in the kitchen, hands busy", "in bed, half asleep", "in a queue",
    "walking, out of breath", "in a meeting, unnoticed", "in a parked car", "abroad, for the first time", "with children around",
    "at a friend's table", "in a workshop, it is loud", "in a waiting room", "at the end of a long day", "before anyone else is up",
)  # fmt: skip
_OPENINGS = (
    "with what is to be done", "with the thing that it is about", "with a question", "with the reason", "with a greeting",
    "with a bare command", "with what went before", "in the middle of a thought", "with a wish",
)  # fmt: skip
_LETTERS = 4
_AGES = (17, 82)
_TEMPERAMENTS = (
    "patient", "impatient", "cheerful", "anxious", "blunt", "polite", "absent-minded", "precise", "talkative", "shy",
    "ironic", "easy-going", "stressed", "formal", "curious", "tired", "confident", "grumpy",
)  # fmt: skip


def circumstances_of(
    seed: int, speaker: int | None = None, *, speaks: bool, is_somebody: bool = True
) -> dict[str, str]:
    """What is drawn: a day, a place and who it is by the `speaker`'s seed, letters for names and an opening by that of the prompt.

    Whoever speaks is left out where that is told already; only words have an opening.
    """
    rng = Random(f"{seed if speaker is None else speaker}:speaker")
    day = FIRST_DAY + timedelta(days=rng.randrange((LAST_DAY - FIRST_DAY).days + 1))
    person, place = _person(rng), rng.choice(_PLACES)
    rng = Random(f"{seed}:circumstances")
    opening = rng.choice(_OPENINGS)
    letters = " ".join(sorted(rng.sample(ascii_uppercase, _LETTERS)))
    who = {"person": person} if is_somebody else {}
    how = {"opening": opening} if speaks else {}
    return {**who, "place": place, "day": f"{day:%A}, {day.isoformat()}", "letters": letters, **how}


def in_circumstances(
    prompt: Prompt, voiced: Collection[str], speaker: int | None = None, *, is_somebody: bool = True
) -> Prompt:
    """The prompt with circumstances in the place of its seed; as it is where it shows none."""
    first, *others = prompt.messages
    at, found = next(((at, found) for at, one in enumerate(others) if (found := _SEED.search(one.content))), (0, None))
    if found is None:
        return prompt
    speaks, text = prompt.name in voiced, others[at].content
    drawn = orjson.dumps(circumstances_of(int(found[1]), speaker, speaks=speaks, is_somebody=is_somebody)).decode()
    shown = f"{text[: found.start()]}<circumstances>{drawn}</circumstances>{text[found.end() :]}"
    others[at] = others[at].with_changes(content=shown)
    framed = first.with_changes(content=f"{first.content}\n{_FRAME}{_OPENING if speaks else ''}")
    return prompt.with_changes(messages=(framed, *others))


def draw_personas(count: int, seed: int) -> tuple[str, ...]:
    """So many people, none of them twice, the first ones the same for any count."""
    rng = Random(f"{seed}:personas")
    drawn: dict[str, None] = {}
    while len(drawn) < count:
        drawn[_person(rng)] = None
    return tuple(drawn)


def _person(rng: Random) -> str:
    return f"{rng.choice(_TEMPERAMENTS)}, {rng.randint(*_AGES)} years old, {_plain(fake('job', rng))}"


def _plain(job: str) -> str:
    """A job as people name it: 'Engineer, civil (consulting)' is a civil engineer."""
    head, _, kind = job.partition(" (")[0].partition(", ")
    return f"{kind} {head}".strip().lower()
