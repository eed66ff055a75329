"""Samples with competing entries become review tasks: each entry that fits as well is a box to tick."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from annotation.conversation import SNAPSHOT, Line
from annotation.excerpts import PICKED, tell_entry
from annotation.path_words import DisambiguationWords, disambiguation_words_in
from annotation.picks import Contest, Pick, contests_of, response_of, step_turns, told_fields
from annotation.screens import DISAMBIGUATION
from annotation.task import Returned, task_key
from annotation.told_steps import tell_step
from annotation.words import Words, words_in
from generators.multi_step.picking import entries_of, write_rule
from warehouse.records import CallTurn, Language, Record, Sample, Strike, UserTurn, Verdict

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
