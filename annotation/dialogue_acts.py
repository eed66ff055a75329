"""The review of dialogue acts: each assistant turn with its acts, `[inform, seek] text`.

Source: CONFETTI 3.1. In the correction box each turn is one line: `3 [inform, seek] Your table
is booked. For when?`. Only the part in brackets can be changed; the text, cut to one line, shows
which turn it is.
"""

import json
import re
from bisect import bisect_right
from itertools import accumulate
from unicodedata import east_asian_width

from callwright.annotation.calls import (
    check_storable,
    plain_lines,
    render_snapshot,
    shortened,
    write_result,
)
from callwright.annotation.edits import with_turns
from callwright.annotation.rendering import (
    ConversationStyle,
    Line,
    render_conversation,
    render_reply,
    write_acts,
)
from callwright.annotation.reviews import (
    ChosenVerdicts,
    ParsedReview,
    ReviewTask,
    Typed,
    UnusableEdit,
    parse_annotation,
    typed_into,
    version_after,
    why_asked,
)
from callwright.annotation.screens import (
    DIALOGUE_ACTS,
    SampleScreenWords,
    acts_words_in,
    interface_languages,
    words_in,
)
from callwright.annotation.studio.records import PulledAnnotation
from callwright.language.packs import plain_signs, widened
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    DialogueAct,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    Turn,
)

CAME_BACK = "←"  # the author of a result; the style of the screen knows it
_CALLS = 240
_TEXT = 4_000
_RESULTS = 20_000
# a call is a turn of its own
_OF_REPLIES: tuple[DialogueAct, ...] = ("seek", "inform", "reject", "other")
_EXAMPLE = f"[inform], [inform, seek] or another choice of {', '.join(_OF_REPLIES)}"
_OPENING = re.compile(widened(r"\s*@[\[](@[^\]\n]*)@[\]] ?"))
_NUMBERED = re.compile(r"\s*(\d{1,6})\s*(.*)")
_SHOWN = 60
_MOST = 60  # columns of a text; a wide letter, as Chinese has them, takes two
_FIXED = "Keep the number and the text of each line, and change only the brackets."


class ActsTask(ReviewTask):
    """A task for annotators of dialogue acts.

    `acts` is the initial text of the edit box; `results` is folded on the screen.
    """

    kind: str = DIALOGUE_ACTS
    conversation: tuple[Line, ...]
    results: str
    acts: str


def acts_task(
    sample: Sample,
    *,
    reason: str,
    language: Language = DEFAULT_LANGUAGE,
    returned: UnusableEdit | None = None,
) -> ActsTask:
    """Return the task that asks whether each assistant turn has the right dialogue acts."""
    words, general = acts_words_in(language), words_in(language)
    style = ConversationStyle(
        calls=lambda _, turn: shortened(render_snapshot(None, turn, general), _CALLS),
        results=lambda _, turn: write_result(turn),
        reply=lambda place, turn: f"{place.number} {render_reply(turn, general)}",
        result_author=CAME_BACK,
        message=lambda message: message.text,
        most=_TEXT,
    )
    turns = (turn for turn in sample.turns if isinstance(turn, ResultTurn))
    results = (
        json.dumps(one, ensure_ascii=False, indent=2) for turn in turns for one in turn.results
    )
    return ActsTask(
        subject=sample.key,
        version=version_after(returned),
        title=" · ".join((sample.category, sample.kind, sample.language)),
        why=why_asked(reason, returned, words.returned),
        conversation=tuple(render_conversation(sample, general, style)),
        results=shortened("\n\n".join(results), _RESULTS) or words.none,
        acts=returned.request if returned else write_act_lines(sample, general),
    )


def parse_acts_review(pulled: PulledAnnotation, sample: Sample) -> ParsedReview:
    """Return the review of the dialogue acts of `sample`; corrected acts make a new version."""

    def read(_answers: ChosenVerdicts) -> Typed:
        typed = typed_into(pulled, "edited_acts")

        def edited() -> Sample:
            if typed is None:
                raise RecordError("The box with the dialogue acts was left empty.")
            return with_turns(sample, read_act_lines(typed, sample))

        request = write_act_lines(sample, words_in(DEFAULT_LANGUAGE)) if typed is None else typed
        return Typed(edited, request)

    return parse_annotation(pulled, sample.key, read)


def write_act_lines(sample: Sample, words: SampleScreenWords) -> str:
    """Return one line for each turn of the assistant."""
    return "\n".join(
        f"{number} {write_acts(turn.acts, words)}{_short(turn.text)}"
        for number, turn in enumerate(_replies(sample).values(), 1)
    )


def read_act_lines(typed: str, sample: Sample) -> tuple[Turn, ...]:
    """Return the turns of `sample` with the typed acts; RecordError names an unusable line."""
    check_storable(typed, "The box")
    replies = _replies(sample)
    numbered = enumerate(plain_lines(typed).split("\n"), 1)
    lines = [(at, line) for at, line in numbered if line.strip()]
    if len(lines) > len(replies):
        raise RecordError(
            f"Line {lines[len(replies)][0]} is one too many: there are {len(replies)} turns."
            f" {_FIXED}"
        )
    turns = list(sample.turns)
    pairs = zip(lines, replies.items(), strict=False)
    for number, ((at, line), (place, turn)) in enumerate(pairs, 1):
        turns[place] = _read_line(at, line, number, turn)
    if len(lines) < len(replies):
        raise RecordError(f"The lines end before turn {len(lines) + 1} of {len(replies)}. {_FIXED}")
    return tuple(turns)


def read_acts(typed: str, was: ReplyTurn) -> tuple[tuple[DialogueAct, ...], str]:
    """Return the acts before a reply's text, and the text. Raises RecordError if it can't.

    `was` is the original turn.
    """
    opening_match = _OPENING.match(typed)
    if opening_match is None:
        raise RecordError(f"the assistant's words must begin with their dialogue acts: {_EXAMPLE}.")
    if opening_match[1].strip():
        names = [name.strip() for name in opening_match[1].translate(plain_signs()).split(",")]
    else:
        names = []
    known = {
        word.casefold(): act
        for language in interface_languages()
        for act, word in words_in(language).act.items()
    }
    unknown = next((name for name in names if name.casefold() not in known), None)
    if unknown is not None:
        raise RecordError(f"there is no dialogue act {unknown[:_SHOWN]!r}; write {_EXAMPLE}.")
    acts, text = [known[name.casefold()] for name in names], typed[opening_match.end() :]
    if set(acts) == set(was.acts) and len(acts) == len(was.acts):
        return was.acts, text
    if not acts:
        raise RecordError(f"the assistant's words need at least one dialogue act: {_EXAMPLE}.")
    doubled = next((act for act in acts if acts.count(act) > 1), None)
    if doubled is not None:
        raise RecordError(f"the dialogue act {doubled!r} is given twice.")
    if "call" in acts:
        raise RecordError(
            "the assistant's words can't be labelled 'call', because a call is a turn of its own."
        )
    if "other" in acts and len(acts) > 1:
        problem = "'other' can't be combined, because it means that no other dialogue act applies."
        raise RecordError(problem)
    return tuple(act for act in _OF_REPLIES if act in acts), text


def _replies(sample: Sample) -> dict[int, ReplyTurn]:
    return {place: turn for place, turn in enumerate(sample.turns) if isinstance(turn, ReplyTurn)}


def _read_line(at: int, line: str, number: int, turn: ReplyTurn) -> ReplyTurn:
    numbered = _NUMBERED.match(line)
    if numbered is None or int(numbered[1]) != number:
        message = f"Line {at} must begin with the number {number}: {line[:_SHOWN]!r}. {_FIXED}"
        raise RecordError(message)
    try:
        acts, text = read_acts(numbered[2], turn)
    except RecordError as error:
        raise RecordError(f"Line {at}: {error}") from error
    if text.split() != _short(turn.text).split():
        problem = f"Line {at} changes the text of turn {number}: {text[:_SHOWN]!r}. {_FIXED}"
        raise RecordError(problem)
    return turn if acts == turn.acts else turn.with_changes(acts=acts)


def _short(text: str) -> str:
    line = " ".join(text.split())
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in line))
    most = bisect_right(ends, _MOST)
    return line if most == len(line) else f"{line[:most].rstrip()}…"
