"""The table of injectors: every kind of defect that the checks are measured on, and how one comes into a sample."""

from collections.abc import Iterator, Sequence
from random import Random

from callwright.validators.audit.arguments import INJECTORS as OF_ARGUMENTS
from callwright.validators.audit.calls import INJECTORS as OF_CALLS
from callwright.validators.audit.gold import INJECTORS as OF_GOLD
from callwright.validators.audit.subjects import AuditSubject, BrokenSample, Injector, UnfitError
from callwright.validators.audit.turns import INJECTORS as OF_TURNS
from callwright.validators.audit.wordings import INJECTORS as OF_WORDINGS
from callwright.validators.checks.grounding import root_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import CallTurn, GoldCall, Sample

INJECTORS: tuple[Injector, ...] = (*OF_GOLD, *OF_ARGUMENTS, *OF_CALLS, *OF_WORDINGS, *OF_TURNS)


def injectors_named(names: Sequence[str]) -> tuple[Injector, ...]:
    """The injectors of these kinds of defects, all where none is named. Raises ConfigurationError that lists the kinds."""
    known = {injector.name: injector for injector in INJECTORS}
    unknown = sorted({*names} - known.keys())
    if unknown:
        raise ConfigurationError(f"There is no kind of defect {unknown[0]!r}; the kinds are {', '.join(known)}.")
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
    is_same = made.sample.key == subject.sample.key and not made.tools
    if is_same:
        return None
    return made._replace(wrong=_wrong_arguments(subject.sample, made.sample, of_words=injector.is_of_words))


def _wrong_arguments(intact: Sample, broken: Sample, *, of_words: bool) -> frozenset[str]:
    """The arguments with another value than before, or, where that is the defect, with other words for it.

    None where calls or turns moved: then it is not the arguments that are wrong.
    """
    before, after = _calls(intact), _calls(broken)
    if before.keys() != after.keys() or any(before[at].tool != call.tool for at, call in after.items()):
        return frozenset()
    return frozenset(name for at, call in after.items() for name in _changed(before[at], call, of_words=of_words))


def _calls(sample: Sample) -> dict[tuple[int, int], GoldCall]:
    return {
        (at, position): call
        for at, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)
        for position, call in enumerate(turn.calls)
    }  # fmt: skip


def _changed(before: GoldCall, after: GoldCall, *, of_words: bool) -> Iterator[str]:
    for name, value in after.arguments.items():
        is_other = name not in before.arguments or before.arguments[name] != value
        if is_other or (of_words and _quotes(before, name) != _quotes(after, name)):
            yield name


def _quotes(call: GoldCall, name: str) -> list[str]:
    return [one.quote for one in call.evidence if root_of(one.argument) == name]
