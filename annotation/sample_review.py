"""The review of samples: what annotators see, all as plain text, and what they answered.

Typed text is read strictly, and none of it is lost.
"""

from collections.abc import Container, Iterator, Sequence

from callwright.annotation.calls import leaves_out, shortened
from callwright.annotation.doubts import doubt_sentences, preferred_tools, with_marks
from callwright.annotation.edit_rows import (
    EditRow,
    Entered,
    edit_rows,
    entered_before,
    entered_turns,
    read_entered,
    write_entered,
)
from callwright.annotation.edits import STAGE, with_turns
from callwright.annotation.readings import differing, readings_of, render_readings, take_readings
from callwright.annotation.rendering import (
    Line,
    describe_tool,
    is_dialogue,
    name_tool,
    render_calls,
    render_steps,
    render_turns,
)
from callwright.annotation.reviews import (
    ChosenVerdicts,
    ParsedReview,
    ReviewTask,
    Typed,
    UnusableEdit,
    parse_annotation,
    version_after,
    why_asked,
)
from callwright.annotation.screens import SAMPLE_REVIEW, QuestionWords, SampleScreenWords, words_in
from callwright.annotation.studio.records import PulledAnnotation
from callwright.generators.kinds import kind_after_edit, traits_of
from callwright.generators.shifts.turns import is_path
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    GoldCall,
    Language,
    Reading,
    Sample,
    Tool,
    Verdict,
)

_MOST_OF_TOOLS, _TOOLS_AT_ONCE = 12_000, 3_000  # characters in all, and of what is not folded away
_WORST_FIRST = ("contradicted", "unproved", "proved")


class SampleTask(ReviewTask):
    """One task for annotators; `rows` are the fields of an edit (see edit_rows).

    `tools` are those of the calls due; if none is due at the end, all candidates in short.
    """

    kind: str = SAMPLE_REVIEW
    question: str
    conversation: tuple[Line, ...]
    calls_shown: str
    earlier_calls: str
    tools: str
    other_tools: str
    failed: str
    readings: str
    details: str
    passed: str
    request: str
    rows: tuple[EditRow, ...]


def review_task(  # noqa: PLR0913 - all that a task shows is said here
    sample: Sample,
    tools: Sequence[Tool],
    verdicts: Sequence[Verdict],
    *,
    reason: str,
    language: Language = DEFAULT_LANGUAGE,
    returned: UnusableEdit | None = None,
    settled: Container[str] = (),
) -> SampleTask:
    """Return the task that asks people about `sample`.

    With `returned` the task hands back an unusable edit. `settled` names the checks whose doubts
    a reader has settled since: they are listed with what passed, and nothing is marked for them.
    """
    words = words_in(language)
    why = _why(reason, sample, verdicts, words)
    still_open = [one for one in verdicts if one.check not in settled]
    shown = with_marks(
        sample, [one.with_changes(doubts=()) if one.check in settled else one for one in verdicts]
    )
    entered = entered_before(returned.calls if returned else "")
    rendered = render_calls(sample, verdicts, words)
    compared, others = _tools(sample, tools, preferred_tools(still_open), words)
    return SampleTask(
        subject=sample.key,
        version=version_after(returned),
        title=" · ".join(filter(None, [sample.category, sample.kind, _about(sample.kind, words)])),
        why=why_asked(why, returned, words.returned),
        question=words.question[question_of(sample)],
        conversation=tuple((render_steps if is_path(sample) else render_turns)(shown, words)),
        calls_shown=rendered.shown,
        earlier_calls=rendered.folded,
        tools=compared or words.none,
        other_tools=others or words.none,
        failed="\n".join(doubt_sentences(sample.turns, still_open, words)) or words.none,
        readings=render_readings(sample, verdicts, words),
        details="\n".join(_check_lines(verdicts, words, settled, passed=False)) or words.none,
        passed="\n".join(_check_lines(verdicts, words, settled, passed=True)) or words.none,
        request=sample.request,
        rows=edit_rows(sample, tools, differing(sample, readings_of(verdicts)), words, entered),
    )


def _about(kind: str, words: SampleScreenWords) -> str:
    """Return the description of a sample kind, "" if there is none.

    A kind derived from another (`mQmA_SO_case1`) is recognized by its own last part.
    """
    parts = kind.split("_")
    names = ("_".join(parts[start:]) for start in range(len(parts)))
    return next((words.kind[name] for name in names if name in words.kind), "")


def _tools(
    sample: Sample, tools: Sequence[Tool], preferred: set[str], words: SampleScreenWords
) -> tuple[str, str]:
    """Return the tools to compare with, called or preferred by a check, and the folded rest.

    If no call is due, all tools are compared: one line each, and in full in the folded part.
    """
    called = {call.tool for call in sample.all_calls} | preferred
    due = [tool for tool in tools if tool.name in called]
    others = [tool for tool in tools if tool.name not in called]
    if sample.gold and len(full := _described(due, words)) <= _TOOLS_AT_ONCE:
        return full, _described(others, words)
    every = [*due, *others]
    names = "\n".join(map(name_tool, due if sample.gold else every))
    compared = shortened(names, _TOOLS_AT_ONCE) if sample.gold else names
    return compared, _described(every, words)


def _described(tools: Sequence[Tool], words: SampleScreenWords) -> str:
    """Return the tools in full, or if that is too long a line each, cut to the space available."""
    full = "\n\n".join(describe_tool(tool, words) for tool in tools)
    if len(full) <= _MOST_OF_TOOLS:
        return full
    return shortened("\n".join(map(name_tool, tools)), _MOST_OF_TOOLS)


def _why(reason: str, sample: Sample, verdicts: Sequence[Verdict], words: SampleScreenWords) -> str:
    """Return why people are asked, without the texts of checks shown elsewhere in plain words."""
    rest = reason
    told = [one for one in verdicts if one.decision != "proved" and one.reason]
    named = sorted((f"{one.check}: {one.reason}" for one in told), key=len, reverse=True)
    for stated in (*named, *(one.reason for one in told)):
        rest = rest.replace(stated, "")
    is_edit = sample.origin is not None and sample.origin.stage == STAGE
    if rest != reason and (is_edit or not rest.strip()):
        return f"{rest.strip()} {words.in_doubt}".strip()
    return reason


def question_of(sample: Sample) -> QuestionWords:
    """Return which question people are asked about a sample, by what its kind is like."""
    traits = traits_of(sample.kind)
    if traits.is_partial:
        return "partial"
    if not sample.gold and not is_path(sample):
        return "idle"
    return "task" if traits.is_task else "calls"


def _check_lines(
    verdicts: Sequence[Verdict], words: SampleScreenWords, settled: Container[str], *, passed: bool
) -> Iterator[str]:
    """Yield a line a verdict: of those that passed or were settled, or of the others."""
    wanted = [
        one for one in verdicts if (one.decision == "proved" or one.check in settled) == passed
    ]
    for verdict in sorted(wanted, key=lambda one: (_WORST_FIRST.index(one.decision), one.check)):
        score = "" if verdict.score is None else f" {verdict.score:.2f}"
        reason = f": {verdict.reason}" if verdict.reason else ""
        decision = words.decision[verdict.decision]
        if verdict.check in settled:
            decision = f"{decision}, {words.settled}"
        yield f"{decision} · {verdict.check}{score}{reason}"


def parse_review(
    pulled: PulledAnnotation,
    sample: Sample,
    tools: Sequence[Tool],
    readings: Sequence[Reading] = (),
) -> ParsedReview:
    """Return the review in an annotation of `sample`.

    `tools` are its candidates; `readings` are what readers wrote.
    """

    def read(answers: ChosenVerdicts) -> Typed:
        if answers.takes_reading:
            return Typed(lambda: take_readings(sample, readings))
        if not answers.problem and answers.decision != "edit":
            return Typed(lambda: sample)
        try:
            entered = read_entered(pulled, sample, tools)
        except RecordError as error:
            return Typed(lambda: sample, problem=str(error))
        return Typed(lambda: _edited(entered, sample, tools), calls=write_entered(entered))

    return parse_annotation(pulled, sample.key, read)


def _edited(entered: Entered, sample: Sample, tools: Sequence[Tool]) -> Sample:
    """Return the sample as its rows hold it; the kind of a single request follows its call."""
    edited = with_turns(sample, entered_turns(entered, sample, tools))
    if edited is sample or is_dialogue(sample) or len(edited.gold) > 1:
        return edited
    kind = _kind_after(sample, edited.gold, tools)
    return edited.with_changes(kind=kind, facts=edited.facts)


def _kind_after(sample: Sample, calls: Sequence[GoldCall], tools: Sequence[Tool]) -> str:
    """Return the kind of a sample with these calls.

    The kind stays as it is if the called tools require nothing, because nothing can then be
    missing.
    """
    required = {
        name for tool in tools for call in calls if tool.name == call.tool for name in tool.required
    }
    if calls and not required and not traits_of(sample.kind).is_idle:
        return sample.kind
    return kind_after_edit(sample.kind, is_idle=not calls, is_whole=not leaves_out(calls, tools))
