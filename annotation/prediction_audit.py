"""The audit of a model's answer: was the metric right? Auditors never see which model it was."""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from callwright.annotation.calls import is_same, shortened, write_calls, write_name, write_value
from callwright.annotation.rendering import (
    Line,
    describe_tool,
    is_dialogue,
    name_tool,
    render_turns,
)
from callwright.annotation.reviews import (
    ParsedReview,
    ReviewTask,
    UnusableEdit,
    parse_verdict,
    version_after,
    why_asked,
)
from callwright.annotation.screens import (
    PREDICTION_AUDIT,
    AuditWords,
    SampleScreenWords,
    audit_words_in,
    words_in,
)
from callwright.annotation.studio.records import PulledAnnotation
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    Arguments,
    Call,
    GoldCall,
    Language,
    Prediction,
    Sample,
    Tool,
)

OTHER, SURPLUS, LACKING, SAME = "≠", "+", "−", " "
_VALUE = 300  # characters of one argument; the answer as it came has all of it
_CALLS = 3_000
_WORDS = 1_200
_LINE = 4_000
_FOLDED = 20_000
_KEPT = "\n\t"

# calls, each with the arguments of its partner
_Side = Sequence[tuple[Call | GoldCall, Arguments | None]]
GOLD_WRONG = "gold_wrong"


class AuditCase(NamedTuple):
    """An answer, its sample, the tools on offer and the metric's error type, "" if right."""

    prediction: Prediction
    sample: Sample
    tools: Sequence[Tool]
    error_type: str


class AuditTask(ReviewTask):
    """One task for auditors; `whole` and `tools` are folded away at first."""

    kind: str = PREDICTION_AUDIT
    conversation: tuple[Line, ...]
    metric: str
    gold: str
    answer: str
    whole: str
    tools: str


def audit_task(
    case: AuditCase,
    *,
    reason: str,
    language: Language = DEFAULT_LANGUAGE,
    returned: UnusableEdit | None = None,
) -> AuditTask:
    """Return the task that asks people whether the metric is right about an answer."""
    words, general = audit_words_in(language), words_in(language)
    prediction, sample = case.prediction, case.sample
    due, answer_calls = sample.calls_at(prediction.turn), prediction.calls or ()
    partners = partners_of(due, answer_calls)
    back = {made_at: due_at for due_at, made_at in partners.items()}
    gold = [
        (call, answer_calls[partners[at]].arguments if at in partners else None)
        for at, call in enumerate(due)
    ]
    answer = [
        (call, due[back[at]].arguments if at in back else None)
        for at, call in enumerate(answer_calls)
    ]
    answer_text = (
        prediction.text
        if prediction.text.strip()
        else write_calls(answer_calls)
        if answer_calls
        else ""
    )
    wrong = words.wrong.format(mistake=words.mistake.get(case.error_type, case.error_type))
    return AuditTask(
        subject=prediction.key,
        version=version_after(returned),
        title=" · ".join((sample.category, sample.kind, sample.language)),
        why=why_asked(reason, returned, words.returned),
        conversation=tuple(_conversation(sample, prediction.turn, general)),
        metric=wrong if case.error_type else words.right,
        gold=shortened("\n".join(_side_lines(gold, LACKING, words)), _CALLS) or words.no_gold,
        answer=shortened("\n".join(_side_lines(answer, SURPLUS, words)), _CALLS)
        or _wordy(prediction, words),
        whole=visible(shortened(answer_text, _FOLDED)) or words.says_nothing,
        tools=_tools(
            case.tools, {call.tool for call in due} | {call.tool for call in answer_calls}, general
        ),
    )


def visible(text: str) -> str:
    """Return the text with invisible and bidirectional control characters as JSON escapes."""
    return "".join(letter if _is_seen(letter) else json.dumps(letter)[1:-1] for letter in text)


def _is_seen(letter: str) -> bool:
    return letter.isprintable() or letter in _KEPT or unicodedata.category(letter) == "Zs"


def _conversation(sample: Sample, turn: int, general: SampleScreenWords) -> Iterator[Line]:
    """Yield what was said and done before the calls due at `turn`, which are shown elsewhere."""
    before = sample.with_changes(turns=sample.turns[: turn + 1])
    lines = list(render_turns(before, general))
    for line in lines[:-1] if is_dialogue(before) else lines:
        yield Line(author=line.author, text=visible(shortened(line.text, _LINE)))


def partners_of(due: Sequence[Call | GoldCall], made: Sequence[Call]) -> Mapping[int, int]:
    """Map each due call to the call made for it: same tool, and the same position if possible."""
    pairs = enumerate(zip(due, made, strict=False))
    partners = {at: at for at, (one, other) in pairs if one.tool == other.tool}
    for at, call in enumerate(due):
        alike = (place for place, one in enumerate(made) if one.tool == call.tool)
        free = next((place for place in alike if place not in partners.values()), None)
        if at not in partners and free is not None:
            partners[at] = free
    return partners


def _side_lines(side: _Side, alone: str, words: AuditWords) -> Iterator[str]:
    """Yield the lines of one side's calls; `alone` marks what the other side lacks.

    If `alone` is the mark for surplus, values that differ are marked too.
    """
    for call, partner in side:
        yield f"{alone if partner is None else SAME} {write_name(call.tool)}"
        for name, value in call.arguments.items():
            mark = SAME
            if partner is not None and name not in partner:
                mark = alone
            elif partner is not None and alone == SURPLUS and not is_same(value, partner[name]):
                mark = OTHER
            yield (
                f"{mark}   {shortened(write_name(name), _VALUE)} ="
                f" {shortened(write_value(value), _VALUE)}"
            )
        if not call.arguments:
            yield f"    {words.no_arguments}"


def _wordy(prediction: Prediction, words: AuditWords) -> str:
    """Return the text of an answer without calls: its words, or why it can't be read."""
    answer_text = visible(shortened(prediction.text, _WORDS))
    if prediction.calls is None:
        parts = filter(
            None,
            [words.unreadable, answer_text, f"({visible(shortened(prediction.problem, _VALUE))})"],
        )
        return "\n".join(parts)
    return f"{words.says}\n{answer_text}" if answer_text.strip() else words.says_nothing


def _tools(tools: Sequence[Tool], named: set[str], general: SampleScreenWords) -> str:
    """Return the tools that are called or due in full, then one line for each of the others."""
    full = [describe_tool(tool, general) for tool in tools if tool.name in named]
    short = "\n".join(name_tool(tool) for tool in tools if tool.name not in named)
    return visible(shortened("\n\n".join(filter(None, [*full, short])), _FOLDED)) or general.none


def parse_audit(pulled: PulledAnnotation, prediction: str) -> ParsedReview:
    """Return the review in an annotation of the prediction with this key.

    Raises AnnotationError if the annotation doesn't fit the prediction or our screen.
    """
    return parse_verdict(pulled, prediction, "audits", audit_words_in(DEFAULT_LANGUAGE).reason)
