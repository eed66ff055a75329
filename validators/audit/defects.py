"""The table of injectors: every kind of defect that the checks are measured on, and how one comes into a sample."""

from collections.abc import Iterator, Sequence
from random import Random

from validators.audit.arguments import INJECTORS as OF_ARGUMENTS
from validators.audit.calls import INJECTORS as OF_CALLS
from validators.audit.subjects import AuditSubject, BrokenSample, Injector
from validators.audit.turns import INJECTORS as OF_TURNS
from validators.audit.wordings import INJECTORS as OF_WORDINGS
from warehouse.errors import ConfigurationError

INJECTORS: tuple[Injector, ...] = (*OF_ARGUMENTS, *OF_CALLS, *OF_WORDINGS, *OF_TURNS)


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


def inject(injector: Injector, subject: AuditSubject, rng: Random) -> BrokenSample | None:
    """The subject with this defect; None where it does not fit, or leaves the sample as it was."""
    found = injector.inject(subject, rng)
    if found is None:
        return None
    made = found if isinstance(found, BrokenSample) else BrokenSample(found, {})
    is_same = made.sample.key == subject.sample.key and not made.tools
    return None if is_same else made
