"""The reviews of multi-step samples: corrected paths and competing entries.

A corrected path is shown beside what a model called (ComplexFuncBench 2.1.2). Each entry that
fits as well as the picked one is a checkbox; ticked entries are struck.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.annotation.calls import shortened, write_name, write_value
from callwright.annotation.doubts import doubt_sentences
from callwright.annotation.edits import is_part_of, strike
from callwright.annotation.picks import (
    PICKED,
    Contest,
    Pick,
    contests_of,
    relevant_fields,
    render_entry,
    render_picks,
    render_rule,
    response_of,
    step_turns,
    without_long_words,
)
from callwright.annotation.rendering import (
    ConversationStyle,
    Line,
    name_tool,
    render_conversation,
    render_step,
)
from callwright.annotation.reviews import (
    ChosenVerdicts,
    ParsedReview,
    ReviewTask,
    Typed,
    UnusableEdit,
    parse_annotation,
    parse_verdict,
    read_control,
    version_after,
    why_asked,
)
from callwright.annotation.screens import (
    CORRECTION,
    DISAMBIGUATION,
    CorrectionWords,
    SampleScreenWords,
    correction_words_in,
    disambiguation_words_in,
    words_in,
)
from callwright.annotation.studio.records import PulledAnnotation
from callwright.generators.environments.picking import choose, entries_of, value_at
from callwright.generators.multi_step.resolving import SourceLeaf, leaves_of, shifted, values_of
from callwright.warehouse.errors import AnnotationError, RecordError
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    Call,
    Correction,
    Default,
    Exchange,
    GoalPath,
    Language,
    Picked,
    Record,
    Sample,
    Strike,
    Tool,
    Verdict,
)

GONE, NEW, SAME = "✗", "✓", "  "
_STEP = re.compile(r"^step (\d+): ")
_CALL = 320
_VALUE = 120
_SOURCES = 4
_CORRECTIONS = 40
_TEXT = 4_000
_LINES = 6_000  # characters of one step
_TOOLS = 12_000  # characters
HOTKEYS = "qwetasdfgzxcvby"
MOST_OFFERED = len(HOTKEYS)
_ENTRY = 180
_LINE = 1_500

Place = tuple[int, int]  # the step, and which call of it


class PlacedGoal(NamedTuple):
    """The leaves of each call's arguments, the places of the calls, and picks from responses."""

    leaves: Mapping[Place, list[SourceLeaf]]
    places: Mapping[int, Place]
    picks: Mapping[tuple[int, int, str], list[Pick]]


class CorrectionTask(ReviewTask):
    """A task for annotators of corrections: the request, the corrections, both paths by step."""

    kind: str = CORRECTION
    request: tuple[Line, ...]
    corrections: str
    before: tuple[Line, ...]
    after: tuple[Line, ...]
    tools: str


def correction_task(
    path: GoalPath,
    tools: Sequence[Tool],
    verdicts: Sequence[Verdict],
    *,
    reason: str,
    language: Language = DEFAULT_LANGUAGE,
    returned: UnusableEdit | None = None,
) -> CorrectionTask:
    """Return the task that asks people about the corrections of `path`.

    `tools` are the tools that the model could choose from; those used in the two paths come
    first. `verdicts` are those on a sample made from the path.
    """
    words, general = correction_words_in(language), words_in(language)
    goal = path.traced.worded.goal
    why = "\n".join(doubt_sentences((), verdicts, general)) or reason
    used = {call.tool for step in (*path.traced.trace, *path.path) for call in step.calls}
    listed = sorted(tools, key=lambda tool: (tool.name not in used, tool.name))
    return CorrectionTask(
        subject=path.key,
        version=version_after(returned),
        title=" · ".join((goal.domain, goal.language, goal.environment)),
        why=why_asked(why, returned, general.returned),
        request=tuple(_requests(path, words)),
        corrections="\n".join(_corrections(path.corrections, words, general)) or words.none,
        before=tuple(_before(path, words, general)),
        after=tuple(_after(path, general)),
        tools=shortened("\n".join(map(name_tool, listed)), _TOOLS) or words.none,
    )


def _requests(path: GoalPath, words: CorrectionWords) -> Iterator[Line]:
    first = path.traced.worded.request
    if first != path.request:
        yield Line(author=words.first_request, text=shortened(first, _TEXT))
    yield Line(author=words.request, text=shortened(path.request, _TEXT))


def _corrections(
    corrections: Sequence[Correction], words: CorrectionWords, general: SampleScreenWords
) -> Iterator[str]:
    for correction in corrections[:_CORRECTIONS]:
        # an order tells both steps itself
        has_step = correction.step is not None and correction.kind != "order"
        step = f" · {general.step.format(number=(correction.step or 0) + 1)}" if has_step else ""
        sides = (_in_words(text, general) for text in (correction.before, correction.after) if text)
        rendered = " → ".join(shortened(text, _CALL) for text in sides)
        shown = "" if correction.kind == "request" else f": {rendered}"
        yield f"{words.kind[correction.kind]}{step}{shown}"
    if len(corrections) > _CORRECTIONS:
        yield general.more_entries.format(count=len(corrections) - _CORRECTIONS)


def _in_words(text: str, general: SampleScreenWords) -> str:
    """Return one side of a correction, naming its step in the words of the screen."""
    rendered = without_long_words(text)
    return _STEP.sub(lambda found: f"{general.step.format(number=found[1])}: ", rendered)


def _before(path: GoalPath, words: CorrectionWords, general: SampleScreenWords) -> Iterator[Line]:
    kept = _keys(path.path)
    for step, exchange in enumerate(path.traced.trace, 1):
        calls = [f"{SAME if call.key in kept else GONE} {_call(call)}" for call in exchange.calls]
        yield _line(general.step.format(number=step), calls)
    if path.traced.problem or not path.traced.trace:
        problem = path.traced.problem
        yield _line("!", [words.stopped.format(problem=problem) if problem else words.idle])


def _after(path: GoalPath, general: SampleScreenWords) -> Iterator[Line]:
    sample_keys = _keys(path.traced.trace)
    placed = place_goal(path)
    ordered = sorted(placed.picks.items(), key=lambda item: item[0])
    for step, exchange in enumerate(path.path):
        lines: list[str] = []
        for position, call in enumerate(exchange.calls):
            if call.key in sample_keys:
                lines.append(f"{SAME} {_call(call)}")
            else:
                lines += _whole(call, placed.leaves.get((step, position), ()), placed, general)
        yield _line(general.step.format(number=step + 1), lines)
        own = ((position, picks) for (at, position, _), picks in ordered if at == step)
        rendered = [render_picks(exchange.responses[at], picks, general) for at, picks in own]
        if rendered:
            yield _line(general.result, rendered)


def _whole(
    call: Call, leaves: Sequence[SourceLeaf], placed: PlacedGoal, general: SampleScreenWords
) -> Iterator[str]:
    """Yield lines for a call that the model did not make, one per argument with its source."""
    yield f"{NEW} {write_name(call.tool)}"
    for name, value in call.arguments.items():
        own = [leaf for leaf in leaves if is_part_of(leaf.argument, name)]
        sources = list(dict.fromkeys(_source(leaf, placed, general) for leaf in own))[:_SOURCES]
        rendered = f"   ← {'; '.join(sources)}" if sources else ""
        yield (
            f"     {write_name(name)} ="
            f" {shortened(without_long_words(write_value(value)), _VALUE)}{rendered}"
        )


def _source(leaf: SourceLeaf, placed: PlacedGoal, general: SampleScreenWords) -> str:
    if not isinstance(leaf.source, Picked):
        return general.evidence_kind["default" if isinstance(leaf.source, Default) else "span"]
    place = placed.places.get(leaf.source.call)
    step = "" if place is None else f"{general.step.format(number=place[0] + 1)} · "
    return step + render_rule(leaf.source, general)


def _call(call: Call) -> str:
    parts = (f"{write_name(name)} = {write_value(value)}" for name, value in call.arguments.items())
    rendered = ", ".join(parts)
    return shortened(without_long_words(f"{write_name(call.tool)}({rendered})"), _CALL)


def _keys(path: Sequence[Exchange]) -> set[str]:
    return {call.key for exchange in path for call in exchange.calls}


def _line(author: str, lines: Sequence[str]) -> Line:
    return Line(author=author, text=shortened("\n".join(lines), _LINES))


def place_goal(path: GoalPath) -> PlacedGoal:
    """Apply the goal's rules to the path's responses; a call whose rules fail gets no place."""
    call_places = {
        call.key: (step, position)
        for step, exchange in reversed([*enumerate(path.path)])
        for position, call in enumerate(exchange.calls)
    }
    leaves_at: dict[Place, list[SourceLeaf]] = {}
    places: dict[int, Place] = {}
    picks: dict[tuple[int, int, str], list[Pick]] = {}
    for index, planned in enumerate(path.traced.worded.goal.calls):
        leaves = leaves_of(index, planned.arguments)
        try:
            picked = (leaf for leaf in leaves if isinstance(leaf.source, Picked))
            picked_values = {leaf.argument: _pick(path, leaf, places) for leaf in picked}
            values = {name: value for name, (_, _, value) in picked_values.items()}
            arguments = values_of(planned.arguments, values)
        except RecordError:
            # the path is not what its goal says; the checks tell so, and there is no place to show
            continue
        place = call_places.get(Call(tool=planned.tool, arguments=arguments).key)
        if place is None:
            continue
        places[index] = place
        leaves_at.setdefault(place, leaves)
        for leaf in leaves:
            if isinstance(leaf.source, Picked):
                response, entry, _ = picked_values[leaf.argument]
                pick = Pick(planned.tool, leaf.argument, leaf.source.rule, entry)
                picks.setdefault((*response, leaf.source.entries), []).append(pick)
    return PlacedGoal(leaves_at, places, picks)


def _pick(
    path: GoalPath, leaf: SourceLeaf, places: Mapping[int, Place]
) -> tuple[Place, int, JsonValue]:
    """Return the response that a leaf is picked from, the entry, and the value."""
    source = leaf.source
    if not isinstance(source, Picked) or source.call not in places:
        raise RecordError(
            f"The argument {leaf.argument!r} comes from a call that is not on the path."
        )
    step, position = places[source.call]
    fitting = choose(entries_of(path.path[step].responses[position], source.entries), source.where)
    if not fitting:
        problem = f"No entry of {source.entries!r} meets the conditions for {leaf.argument!r}."
        raise RecordError(problem)
    value = shifted(value_at(fitting[0].value, source.field), source.later_by)
    return (step, position), fitting[0].index, value


def parse_correction_review(pulled: PulledAnnotation, subject: str) -> ParsedReview:
    """Return the review in an annotation of the corrected path with the key `subject`.

    Raises AnnotationError if the annotation doesn't fit the path or our screen.
    """
    return parse_verdict(pulled, subject, "corrections")


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


def offered_strikes(sample: Sample) -> dict[str, Strike]:
    """Return the entries that a person may strike, by the name that a ticked box sends back."""
    return {name: one for name, (one, _) in _offered(sample).items()}


def disambiguation_task(
    sample: Sample,
    verdicts: Sequence[Verdict],
    *,
    reason: str,
    language: Language = DEFAULT_LANGUAGE,
    returned: UnusableEdit | None = None,
) -> DisambiguationTask:
    """Return the task that asks which entries to strike from the responses of `sample`."""
    words, general = disambiguation_words_in(language), words_in(language)
    why = "\n".join(doubt_sentences(sample.turns, verdicts, general)) or reason
    offered = _offered(sample)
    count = sum(len(contest.rivals) for contest in contests_of(sample))
    boxes: list[Box] = []
    for key, (name, (one, contest)) in zip(HOTKEYS, offered.items(), strict=False):
        entry = entries_of(response_of(sample, contest), contest.entries)[one.entry]
        where = f"{general.step.format(number=one.step + 1)} · [{one.entry}]"
        shown = render_entry(entry.value, relevant_fields(contest.picks), _ENTRY)
        boxes.append(Box(value=f"{where} {shown}", alias=name, hotkey=key))
    more = [words.more.format(count=count - len(boxes))] if count > len(boxes) else []
    style = ConversationStyle(
        calls=lambda place, turn: shortened(render_step(place.number, turn, general), _LINE),
        results=lambda _place, _turn: None,
        reply=lambda _place, _turn: None,
        most=_TEXT,
    )
    return DisambiguationTask(
        subject=sample.key,
        version=version_after(returned),
        title=" · ".join((sample.category, sample.kind, sample.language)),
        why=why_asked(why, returned, words.returned),
        conversation=tuple(render_conversation(sample, general, style)),
        picked="\n".join([*_picked(sample, general), *more]),
        strikes=tuple(boxes),
    )


def _offered(sample: Sample) -> Mapping[str, tuple[Strike, Contest]]:
    places = step_turns(sample)
    found: dict[str, tuple[Strike, Contest]] = {}
    for contest in contests_of(sample):
        step = places.index(contest.turn - 1)
        names = " and ".join(sorted({repr(pick.argument) for pick in contest.picks}))
        reason, place = f"A reviewer says that it also fits {names}.", contest.entries
        for entry in contest.rivals[: MOST_OFFERED - len(found)]:
            at = {"step": step, "call": contest.result, "entry": entry.index}
            offered = Strike(**at, entries=place, reason=reason)
            found[f"{step}.{contest.result}.{entry.index}:{place}"] = offered, contest
    return found


def _picked(sample: Sample, general: SampleScreenWords) -> Iterator[str]:
    """Yield each pick that has rivals: its rule, and the entry that it picks."""
    places = step_turns(sample)
    for contest in contests_of(sample):
        if not contest.rivals:
            continue
        step = general.step.format(number=places.index(contest.turn - 1) + 1)
        entries = entries_of(response_of(sample, contest), contest.entries)
        takers: dict[str, list[str]] = {}
        for pick in contest.picks:
            rule = render_rule(pick.rule, general)
            takers.setdefault(rule, []).append(f"{pick.tool}.{pick.argument}")
        for rule, arguments in takers.items():
            yield f"{step} · {', '.join(arguments)} ← {rule}"
        for index in contest.chosen:
            rendered = render_entry(entries[index].value, relevant_fields(contest.picks), _ENTRY)
            yield f"  {PICKED} [{index}] {rendered}"


def parse_disambiguation(pulled: PulledAnnotation, sample: Sample) -> ParsedReview:
    """Return the review of the competing entries of `sample`; ticked entries are struck."""

    def read(answers: ChosenVerdicts) -> Typed:
        offered = offered_strikes(sample)
        names = read_control(pulled, "strikes", "choices")
        unknown = [name for name in names if name not in offered]
        if unknown:
            raise AnnotationError(
                f"The control 'strikes' of task {pulled.task_id} in Label Studio holds"
                f" {unknown[0]!r}, which is not an entry that can be struck. Was the task's"
                " data changed by hand?"
            )
        strikes = tuple(offered[name] for name in dict.fromkeys(names))
        problem, decision = "", "" if answers.problem else answers.decision
        if decision == "edit" and not strikes:
            problem = "The verdict is to strike entries, but none is ticked."
        if decision == "accept" and strikes:
            problem = "Entries are ticked, but the verdict is that the sample is clear as it is."
        ticked = "\n".join(f"{one.step}.{one.call}.{one.entry}:{one.entries}" for one in strikes)
        return Typed(
            lambda: strike(sample, strikes), calls=ticked, strikes=strikes, problem=problem
        )

    return parse_annotation(pulled, sample.key, read)
