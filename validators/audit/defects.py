"""The table of injectors: every kind of defect that the checks are measured on, and how one comes
into a sample.

Of gold calls each sort of wrong call is a defect, put in the place of the gold.
"""

from collections.abc import Iterator, Sequence
from random import Random

from pydantic import JsonValue

from callwright.language.schemas import scalars
from callwright.validators.audit.calls import OF_ARGUMENTS, OF_CALLS
from callwright.validators.audit.editing import KeptTurn, kept_turns, rebuilt, with_call
from callwright.validators.audit.subjects import (
    AuditSubject,
    BrokenSample,
    Injection,
    Injector,
    UnfitError,
    pick,
)
from callwright.validators.audit.turns import INJECTORS as OF_TURNS
from callwright.validators.audit.wordings import INJECTORS as OF_WORDINGS
from callwright.validators.origins import root_of
from callwright.validators.reading.defects import MAKERS, Maker, of_maker
from callwright.validators.reading.points import Calls, DuePoint, due_points
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    Evidence,
    GoldCall,
    ResultTurn,
    Sample,
    Turn,
)


def injectors_named(names: Sequence[str]) -> tuple[Injector, ...]:
    """The injectors of these kinds of defects, all where none is named.

    Raises ConfigurationError that lists the kinds.
    """
    known = {injector.name: injector for injector in INJECTORS}
    unknown = sorted({*names} - known.keys())
    if unknown:
        raise ConfigurationError(
            f"There is no kind of defect {unknown[0]!r}; the kinds are {', '.join(known)}."
        )
    return tuple(known[name] for name in names) or INJECTORS


def broken_variants(
    subject: AuditSubject, injectors: Sequence[Injector], seed: int
) -> Iterator[tuple[str, BrokenSample]]:
    """The subject with each of the defects that fit it, by name."""
    for injector in injectors:
        made = inject(injector, subject, Random(f"{seed}:{injector.name}:{subject.sample.key}"))
        if made is not None:
            yield injector.name, made


def wrong_calls(subject: AuditSubject) -> Iterator[tuple[str, Sample]]:
    """The subject with each defect of its calls that fits it, by name, in an order of its own."""
    rng = Random(subject.sample.key)
    injectors = (*OF_GOLD, *OF_ARGUMENTS, *OF_CALLS)
    for injector in rng.sample(injectors, len(injectors)):
        made = inject(injector, subject, rng)
        if made is not None and not made.tools:
            yield injector.name, made.sample


def inject(injector: Injector, subject: AuditSubject, rng: Random) -> BrokenSample | None:
    """The subject with this defect; None where it does not fit, or leaves the sample as it was."""
    try:
        found = injector.inject(subject, rng)
    except UnfitError:
        return None
    if found is None:
        return None
    made = found if isinstance(found, BrokenSample) else BrokenSample(found, {})
    if made.sample.key == subject.sample.key and not made.tools:
        return None
    return made._replace(
        wrong=_wrong_arguments(subject.sample, made.sample, of_words=injector.is_of_words)
    )


def _wrong_arguments(intact: Sample, broken: Sample, *, of_words: bool) -> frozenset[str]:
    """The arguments with another value than before, or, where that is the defect, with other words
    for it.

    None where calls or turns moved: then it is not the arguments that are wrong.
    """
    before, after = (
        {
            (at, place): call
            for at, turn in enumerate(sample.turns)
            for place, call in enumerate(_calls(turn))
        }
        for sample in (intact, broken)
    )
    if before.keys() != after.keys() or any(
        before[at].tool != call.tool for at, call in after.items()
    ):
        return frozenset()
    pairs = [(before[at], call) for at, call in after.items()]
    values = {
        name
        for was, call in pairs
        for name, value in call.arguments.items()
        if name not in was.arguments or was.arguments[name] != value
    }
    words = {
        name
        for was, call in pairs
        for name in call.arguments
        if _quotes(was, name) != _quotes(call, name)
    }
    return frozenset(values | words if of_words else values)


def _calls(turn: Turn) -> tuple[GoldCall, ...]:
    return turn.calls if isinstance(turn, CallTurn) else ()


def _quotes(call: GoldCall, name: str) -> list[str]:
    return [one.quote for one in call.evidence if root_of(one.argument) == name]


def _injecting(maker: Maker) -> Injection:
    """The gold of the last place with calls, or of any place of a sample whose calls were made,
    is such wrong calls.
    """

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        tools = [subject.tools[key] for key in subject.sample.candidates]
        places = [due for due in due_points(subject.sample, tools) if due.calls]
        shown = places if subject.traits.is_executed else places[-1:]
        for due in rng.sample(shown, len(shown)):
            found = [one.calls for one in of_maker(maker, due, rng)]
            unsaid = [one for one in found if not _is_said(one, due, subject.words)]
            if unsaid and (made := _with_calls(subject, due, rng.choice(unsaid))):
                return made
        return None

    return inject


def _is_said(wrong: Calls, due: DuePoint, words: str) -> bool:
    """Whether a text that the wrong calls have and the gold calls have not stands in what the
    user says.
    """
    new, known = (
        {one for call in calls for one in scalars(call.arguments)} for calls in (wrong, due.calls)
    )
    return any(isinstance(one, str) and one.casefold() in words for one in new - known)


def _with_calls(subject: AuditSubject, due: DuePoint, wrong: Calls) -> Sample | None:
    """The sample with other calls at a place, and with the same change at earlier snapshots; None
    where a result is unknown.

    Evidence stays with the arguments that it was for: whoever is wrong about a value would quote
    the same words.
    """
    sample = subject.sample
    turn = sample.turns[due.turn]
    if not isinstance(turn, CallTurn):
        return None
    sources = _sources(wrong, due.calls)
    kept = kept_turns(sample)
    same = {call.key: one for call, one in zip(due.calls, turn.calls, strict=True)}
    calls = tuple(
        _gold_of(call, same.get(call.key) if at is None else turn.calls[at])
        for call, at in zip(wrong, sources, strict=True)
    )
    kept[due.turn] = KeptTurn(turn.with_changes(calls=calls), due.turn, tuple(sources))
    following = next(iter(sample.turns[due.turn + 1 :]), None)
    if turn.executed and isinstance(following, ResultTurn):
        pairs = zip(wrong, sources, strict=True)
        try:
            results = tuple(_result(subject, call, at, due, following) for call, at in pairs)
        except UnfitError:
            return None
        kept[due.turn + 1] = KeptTurn(following.with_changes(results=results), due.turn + 1)
        if not results:
            del kept[due.turn : due.turn + 2]
    changed = rebuilt(sample, kept)
    return changed if turn.executed else _with_earlier(changed, due, wrong, sources)


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
    evidence = tuple(_evidence_of(call, source)) if source else ()
    return GoldCall(tool=call.tool, arguments=call.arguments, evidence=evidence)


def _evidence_of(call: Call, source: GoldCall) -> Iterator[Evidence]:
    """The evidence of a call for the arguments of one made of it: a value that stands elsewhere
    takes its own along.
    """
    for name, value in call.arguments.items():
        moved = [one for one, held in source.arguments.items() if held == value]
        taken = (
            name
            if name in moved or (name in source.arguments and not moved)
            else next(iter(moved), name)
        )
        for one in source.evidence:
            if root_of(one.argument) == taken:
                yield one.with_changes(argument=f"{name}{one.argument.removeprefix(taken)}")


def _result(
    subject: AuditSubject, call: Call, at: int | None, due: DuePoint, following: ResultTurn
) -> JsonValue:
    """What the call returns: what the one returned that it was made of, or one of its tool
    elsewhere.
    """
    same = next((place for place, one in enumerate(due.calls) if one == call), at)
    if same is not None:
        return following.results[same]
    return pick(subject.pool.executed.get(call.tool, []), Random(call.key))[1]


def _with_earlier(
    sample: Sample, due: DuePoint, wrong: Calls, sources: Sequence[int | None]
) -> Sample:
    """The sample with what changed about a call changed wherever it stood so before."""
    for call, at in zip(wrong, sources, strict=True):
        before = None if at is None else due.calls[at]
        if before is None or before == call:
            continue
        for index, turn in enumerate(sample.turns[: due.turn]):
            for position, one in enumerate(_calls(turn)):
                # each value that it has of the call before becomes that of the new one
                if one.tool == before.tool:
                    arguments = {
                        name: call.arguments[name] if value == before.arguments.get(name) else value
                        for name, value in one.arguments.items()
                        if name in call.arguments or value != before.arguments.get(name)
                    }
                    changed = _gold_of(Call(tool=call.tool, arguments=arguments), one)
                    sample = with_call(sample, index, position, changed)
    return sample


OF_GOLD = tuple(Injector(one.name, one.breaks, _injecting(one)) for one in MAKERS)
INJECTORS: tuple[Injector, ...] = (*OF_GOLD, *OF_ARGUMENTS, *OF_CALLS, *OF_WORDINGS, *OF_TURNS)
