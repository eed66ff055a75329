"""Defects of gold calls: each near miss that readers are shown, put in the place of the gold."""

from collections.abc import Iterator, Sequence
from random import Random

from pydantic import JsonValue

from callwright.language.schemas import scalars
from callwright.validators.audit.editing import KeptTurn, kept_turns, rebuilt, with_call
from callwright.validators.audit.subjects import AuditSubject, Injection, Injector, UnfitError, pick
from callwright.validators.checks.grounding import root_of
from callwright.validators.near_misses.due import Due, Option, acting_points
from callwright.validators.near_misses.table import MAKERS, Maker, of_maker
from callwright.warehouse.records import Call, CallTurn, Evidence, GoldCall, ResultTurn, Sample


def _injecting(maker: Maker) -> Injection:
    """The gold of the last place with calls, or of any place of a sample whose calls were made, is such a near miss."""

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        tools = [subject.tools[key] for key in subject.sample.candidates]
        places = [due for due in acting_points(subject.sample, tools) if due.calls]
        shown = places if subject.traits.is_executed else places[-1:]
        for due in rng.sample(shown, len(shown)):
            found = [one.option for one in of_maker(maker, due, rng)]
            unsaid = [one for one in found if not _is_said(one, due, subject)]
            if unsaid and (made := with_option(subject, due, rng.choice(unsaid))):
                return made
        return None

    return inject


def _is_said(option: Option, due: Due, subject: AuditSubject) -> bool:
    """Whether a text that the option has and the gold has not stands in what the user says."""
    known = {one for call in due.calls for one in scalars(call.arguments)}
    new = {one for call in option.calls for one in scalars(call.arguments)} - known
    return any(isinstance(one, str) and one.casefold() in subject.words for one in new)


def with_option(subject: AuditSubject, due: Due, option: Option) -> Sample | None:
    """The sample with other calls at a place, and with the same change at earlier snapshots; None where a result is unknown.

    Evidence stays with the arguments that it was for: whoever is wrong about a value would quote the same words.
    """
    sample = subject.sample
    turn = sample.turns[due.turn]
    if not isinstance(turn, CallTurn):
        return None
    sources = _sources(option.calls, due.calls)
    kept = kept_turns(sample)
    same = {call.key: one for call, one in zip(due.calls, turn.calls, strict=True)}
    calls = tuple(
        _gold_of(call, same.get(call.key) if at is None else turn.calls[at])
        for call, at in zip(option.calls, sources, strict=True)
    )
    kept[due.turn] = KeptTurn(turn.with_changes(calls=calls), due.turn, tuple(sources))
    following = sample.turns[due.turn + 1] if due.turn + 1 < len(sample.turns) else None
    if turn.executed and isinstance(following, ResultTurn):
        try:
            results = tuple(
                _result(subject, call, at, due, following) for call, at in zip(option.calls, sources, strict=True)
            )
        except UnfitError:
            return None
        kept[due.turn + 1] = KeptTurn(following.with_changes(results=results), due.turn + 1)
        if not results:
            del kept[due.turn : due.turn + 2]
    changed = rebuilt(sample, kept)
    return changed if turn.executed else _with_earlier(changed, due, option, sources)


def _sources(calls: Sequence[Call], due: Sequence[Call]) -> list[int | None]:
    """Which of the calls due each call is or was made of, None where it is new."""
    left: list[Call | None] = [*due]
    found: list[int | None] = []
    for call in calls:
        at = left.index(call) if call in left else None
        found.append(at)
        if at is not None:
            left[at] = None
    if len(calls) == len(due):
        rest = [at for at, one in enumerate(left) if one is not None]
        found = [rest.pop(0) if at is None and rest else at for at in found]
    return found


def _gold_of(call: Call, source: GoldCall | None) -> GoldCall:
    return GoldCall(
        tool=call.tool, arguments=call.arguments, evidence=tuple(_evidence_of(call, source)) if source else ()
    )


def _evidence_of(call: Call, source: GoldCall) -> Iterator[Evidence]:
    """The evidence of a call for the arguments of one made of it: a value that stands elsewhere takes its own along."""
    for name, value in call.arguments.items():
        moved = [one for one, held in source.arguments.items() if held == value]
        taken = name if name in moved or (name in source.arguments and not moved) else next(iter(moved), name)
        for one in source.evidence:
            if root_of(one.argument) == taken:
                yield one.with_changes(argument=f"{name}{one.argument.removeprefix(taken)}")


def _result(subject: AuditSubject, call: Call, at: int | None, due: Due, following: ResultTurn) -> JsonValue:
    """What the call returns: what the one returned that it was made of, or one of its tool elsewhere."""
    same = next((place for place, one in enumerate(due.calls) if one == call), at)
    if same is not None:
        return following.results[same]
    return pick(subject.pool.executed.get(call.tool, []), Random(call.key))[1]


def _with_earlier(sample: Sample, due: Due, option: Option, sources: Sequence[int | None]) -> Sample:
    """The sample with what changed about a call changed wherever it stood so before."""
    for call, at in zip(option.calls, sources, strict=True):
        before = None if at is None else due.calls[at]
        if before is None or before == call:
            continue
        for index, turn in enumerate(sample.turns[: due.turn]):
            for position, one in enumerate(turn.calls if isinstance(turn, CallTurn) else ()):
                if one.tool == before.tool:
                    changed = _changed_alike(one.bare, before, call)
                    sample = with_call(sample, index, position, _gold_of(changed, one))
    return sample


def _changed_alike(one: Call, before: Call, after: Call) -> Call:
    """An earlier state of a call, with each value that it has of the call before as the call after has it."""
    arguments = {
        name: after.arguments[name] if value == before.arguments.get(name) else value
        for name, value in one.arguments.items()
        if name in after.arguments or value != before.arguments.get(name)
    }
    return Call(tool=after.tool, arguments=arguments)


INJECTORS = tuple(Injector(maker.name, maker.breaks, _injecting(maker)) for maker in MAKERS if maker.name != "question")
