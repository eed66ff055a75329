"""The review of competing entries: each entry that fits as well is a box to tick, and what is ticked is struck."""

from collections.abc import Iterator, Mapping, Sequence

from callwright.annotation.doubts import doubt_sentences
from callwright.annotation.edits import strike
from callwright.annotation.picks import (
    PICKED,
    Contest,
    Pick,
    contests_of,
    relevant_fields,
    render_entry,
    render_rule,
    response_of,
    step_turns,
)
from callwright.annotation.rendering import ConversationStyle, Line, render_conversation, render_step
from callwright.annotation.reviews import (
    ChosenVerdicts,
    ParsedReview,
    Returned,
    ReviewTask,
    Typed,
    parse_annotation,
    shortened,
    values_of,
    version_after,
    why_asked,
)
from callwright.annotation.screens import DISAMBIGUATION, SampleScreenWords, disambiguation_words_in, words_in
from callwright.annotation.studio.records import PulledAnnotation
from callwright.generators.environments.picking import entries_of
from callwright.warehouse.errors import AnnotationError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language, Record, Sample, Strike, Verdict

HOTKEYS = "qwetasdfgzxcvby"
MOST_OFFERED = len(HOTKEYS)
_ENTRY = 180
_TEXT = 4_000
_LINE = 1_500


class Box(Record):
    """A box to tick: `alias` is what comes back, `value` what stands beside the box."""

    value: str
    alias: str
    hotkey: str


class DisambiguationTask(ReviewTask):
    """One task for annotators of competing entries; `strikes` are the boxes."""

    kind: str = DISAMBIGUATION
    conversation: tuple[Line, ...]
    picked: str
    strikes: tuple[Box, ...]


def has_competition(sample: Sample) -> bool:
    """Whether there is anything to strike from the responses of a sample."""
    return bool(offered_strikes(sample))


def offered_strikes(sample: Sample) -> dict[str, Strike]:
    """The entries that a person may strike, by the name that a ticked box sends back."""
    return {name: one for name, (one, _) in _offered(sample).items()}


def disambiguation_task(
    sample: Sample,
    verdicts: Sequence[Verdict],
    *,
    reason: str,
    language: Language = DEFAULT_LANGUAGE,
    returned: Returned | None = None,
) -> DisambiguationTask:
    """The task that asks people which entries of the responses of `sample` are to be struck."""
    words, general = disambiguation_words_in(language), words_in(language)
    why = "\n".join(doubt_sentences(sample.turns, verdicts, general)) or reason
    offered = _offered(sample)
    count = sum(len(contest.rivals) for contest in contests_of(sample))
    boxes = [
        Box(value=_label(sample, one, contest, general), alias=name, hotkey=key)
        for key, (name, (one, contest)) in zip(HOTKEYS, offered.items(), strict=False)
    ]
    more = [words.more.format(count=count - len(boxes))] if count > len(boxes) else []
    return DisambiguationTask(
        subject=sample.key,
        version=version_after(returned),
        title=" · ".join((sample.category, sample.kind, sample.language)),
        why=why_asked(why, returned, words.returned),
        conversation=tuple(_conversation(sample, general)),
        picked="\n".join([*_picked(sample, general), *more]),
        strikes=tuple(boxes),
    )


def _offered(sample: Sample) -> Mapping[str, tuple[Strike, Contest]]:
    places = step_turns(sample)
    found: dict[str, tuple[Strike, Contest]] = {}
    for contest in contests_of(sample):
        step = places.index(contest.turn - 1)
        names = " and ".join(sorted({repr(pick.argument) for pick in contest.picks}))
        for entry in contest.rivals[: MOST_OFFERED - len(found)]:
            one = Strike(
                step=step,
                call=contest.result,
                entries=contest.entries,
                entry=entry.index,
                reason=f"A reviewer says that it fits {names} as well.",
            )
            found[f"{step}.{contest.result}.{entry.index}:{contest.entries}"] = one, contest
    return found


def _label(sample: Sample, one: Strike, contest: Contest, general: SampleScreenWords) -> str:
    entry = entries_of(response_of(sample, contest), contest.entries)[one.entry]
    where = f"{general.step.format(number=one.step + 1)} · [{one.entry}]"
    return f"{where} {render_entry(entry.value, relevant_fields(contest.picks), _ENTRY)}"


def _conversation(sample: Sample, general: SampleScreenWords) -> Iterator[Line]:
    style = ConversationStyle(
        calls=lambda place, turn: shortened(render_step(place.number, turn, general), _LINE),
        results=lambda _place, _turn: None,
        reply=lambda _place, _turn: None,
        most=_TEXT,
    )
    return render_conversation(sample, general, style)


def _picked(sample: Sample, general: SampleScreenWords) -> Iterator[str]:
    """Each pick that has rivals: the rule, and the entry that is picked by it."""
    places = step_turns(sample)
    for contest in contests_of(sample):
        if not contest.rivals:
            continue
        step = general.step.format(number=places.index(contest.turn - 1) + 1)
        entries = entries_of(response_of(sample, contest), contest.entries)
        for rule, takers in _takers(contest.picks, general).items():
            yield f"{step} · {', '.join(takers)} ← {rule}"
        for index in contest.chosen:
            rendered = render_entry(entries[index].value, relevant_fields(contest.picks), _ENTRY)
            yield f"  {PICKED} [{index}] {rendered}"


def _takers(picks: Sequence[Pick], general: SampleScreenWords) -> dict[str, list[str]]:
    """The rules, each with the arguments that are picked by it."""
    found: dict[str, list[str]] = {}
    for pick in picks:
        found.setdefault(render_rule(pick.rule, general), []).append(f"{pick.tool}.{pick.argument}")
    return found


def parse_disambiguation(pulled: PulledAnnotation, sample: Sample) -> ParsedReview:
    """The review that an annotation of the competing entries of `sample` holds: what was ticked is struck."""

    def read(answers: ChosenVerdicts) -> Typed:
        strikes = _ticked(pulled, sample)
        problem = "" if answers.problem else _problem(answers.decision, strikes)
        return Typed(lambda: strike(sample, strikes), lambda why: _returned(pulled, strikes, why), strikes, problem)

    return parse_annotation(pulled, sample.key, read)


def _ticked(pulled: PulledAnnotation, sample: Sample) -> tuple[Strike, ...]:
    offered = offered_strikes(sample)
    names = values_of(pulled, "strikes", "choices")
    unknown = [name for name in names if name not in offered]
    if unknown:
        raise AnnotationError(
            f"The control 'strikes' of task {pulled.task_id} in Label Studio holds {unknown[0]!r}, which is no entry that "
            "the sample offers to strike. Was the task's data changed by hand?"
        )
    return tuple(offered[name] for name in dict.fromkeys(names))


def _problem(decision: str, strikes: tuple[Strike, ...]) -> str:
    if decision == "edit" and not strikes:
        return "Entries were to be struck, but none is ticked."
    if decision == "accept" and strikes:
        return "Entries are ticked, but the verdict is that all is clear as it is."
    return ""


def _returned(pulled: PulledAnnotation, strikes: tuple[Strike, ...], problem: str) -> Returned:
    ticked = "\n".join(f"{one.step}.{one.call}.{one.entry}:{one.entries}" for one in strikes)
    return Returned(request="", calls=ticked, problem=problem, version=pulled.version)
