"""The review of competing entries: each entry that fits as well is a box to tick, and what is ticked is struck."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from annotation.edits import strike
from annotation.picks import PICKED, Contest, Pick, contests_of, response_of, step_turns, tell_entry, told_fields
from annotation.rendering import SNAPSHOT, Line, tell_step
from annotation.reviews import read_answers, require_subject, review_of, values_of
from annotation.screens import DISAMBIGUATION
from annotation.studio.records import PulledAnnotation
from annotation.task import Returned, task_key
from annotation.words import DisambiguationWords, Words, disambiguation_words_in, words_in
from generators.multi_step.picking import entries_of, write_rule
from warehouse.errors import AnnotationError, RecordError
from warehouse.records import CallTurn, Language, Record, Review, Sample, Strike, UserTurn, Verdict

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


class DisambiguationTask(Record):
    """One task for annotators of competing entries; `strikes` are the boxes."""

    subject: str
    kind: str = DISAMBIGUATION
    version: int = 1
    title: str
    why: str
    conversation: tuple[Line, ...]
    picked: str
    strikes: tuple[Box, ...]

    @property
    def callwright_key(self) -> str:
        """The name of this task in Label Studio: the same content is never pushed twice under it."""
        return task_key(self.kind, self.subject, self.version)

    def data(self) -> dict[str, JsonValue]:
        """The task as Label Studio imports it."""
        return {"callwright_key": self.callwright_key, **self.model_dump(mode="json", exclude={"kind"})}


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
    language: Language = "en",
    returned: Returned | None = None,
) -> DisambiguationTask:
    """The task that asks people which entries of the responses of `sample` are to be struck."""
    words, general = disambiguation_words_in(language), words_in(language)
    said = "\n".join(_doubts(verdicts, words)) or reason
    offered = _offered(sample)
    count = sum(len(contest.rivals) for contest in contests_of(sample))
    boxes = [
        Box(value=_label(sample, one, contest, general), alias=name, hotkey=key)
        for key, (name, (one, contest)) in zip(HOTKEYS, offered.items(), strict=False)
    ]
    more = [words.more.format(count=count - len(boxes))] if count > len(boxes) else []
    return DisambiguationTask(
        subject=sample.key,
        version=returned.version + 1 if returned else 1,
        title=" · ".join((sample.category, sample.kind, sample.language)),
        why=f"{words.returned.format(problem=returned.problem)}\n{said}" if returned else said,
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


def _label(sample: Sample, one: Strike, contest: Contest, general: Words) -> str:
    entry = entries_of(response_of(sample, contest), contest.entries)[one.entry]
    where = f"{general.step.format(number=one.step + 1)} · [{one.entry}]"
    return f"{where} {tell_entry(entry.value, told_fields(contest.picks), _ENTRY)}"


def _conversation(sample: Sample, general: Words) -> Iterator[Line]:
    steps = 0
    for turn in sample.turns:
        if isinstance(turn, UserTurn):
            yield Line(author=general.user, text=_cut(turn.text, _TEXT))
        elif isinstance(turn, CallTurn):
            steps += 1
            yield Line(author=SNAPSHOT, text=_cut(tell_step(steps, turn, general), _LINE))


def _picked(sample: Sample, general: Words) -> Iterator[str]:
    """Each pick that has rivals: the rule, and the entry that is picked by it."""
    places = step_turns(sample)
    for contest in contests_of(sample):
        if not contest.rivals:
            continue
        step = general.step.format(number=places.index(contest.turn - 1) + 1)
        entries = entries_of(response_of(sample, contest), contest.entries)
        for rule, takers in _takers(contest.picks).items():
            yield f"{step} · {', '.join(takers)} ← {rule}"
        for index in contest.chosen:
            told = tell_entry(entries[index].value, told_fields(contest.picks), _ENTRY)
            yield f"  {PICKED} [{index}] {told}"


def _takers(picks: Sequence[Pick]) -> dict[str, list[str]]:
    """The rules, each with the arguments that are picked by it."""
    found: dict[str, list[str]] = {}
    for pick in picks:
        found.setdefault(write_rule(pick.rule), []).append(f"{pick.tool}.{pick.argument}")
    return found


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _doubts(verdicts: Sequence[Verdict], words: DisambiguationWords) -> Iterator[str]:
    for verdict in sorted(verdicts, key=lambda verdict: (verdict.decision != "contradicted", verdict.check)):
        if verdict.decision != "proved":
            yield f"{words.decision[verdict.decision]} · {verdict.check}: {verdict.reason}"


class ParsedDisambiguation(Record):
    """What one annotation says: a review, with what is struck and the sample without it; or an answer that goes back.

    A skipped task says neither.
    """

    review: Review | None = None
    strikes: tuple[Strike, ...] = ()
    edited: Sample | None = None
    returned: Returned | None = None


def parse_disambiguation(pulled: PulledAnnotation, sample: Sample) -> ParsedDisambiguation:
    """The review that an annotation of the competing entries of `sample` holds.

    Raises AnnotationError where the annotation does not fit the sample or our screen at all.
    """
    require_subject(pulled, sample.key)
    if pulled.skipped:
        return ParsedDisambiguation()
    answers = read_answers(pulled)
    strikes = _ticked(pulled, sample)
    problem = answers.problem or _problem(answers.decision, strikes)
    if problem:
        return _returned(pulled, strikes, problem)
    if answers.decision != "edit":
        return ParsedDisambiguation(review=review_of(pulled, answers, answers.decision, None))
    try:
        edited = strike(sample, strikes)
    except RecordError as error:
        return _returned(pulled, strikes, str(error))
    return ParsedDisambiguation(
        review=review_of(pulled, answers, "edit", edited.key), strikes=strikes, edited=edited
    )  # fmt: skip


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


def _returned(pulled: PulledAnnotation, strikes: tuple[Strike, ...], problem: str) -> ParsedDisambiguation:
    ticked = "\n".join(f"{one.step}.{one.call}.{one.entry}:{one.entries}" for one in strikes)
    returned = Returned(request="", calls=ticked, problem=problem, version=pulled.version)
    return ParsedDisambiguation(returned=returned)
