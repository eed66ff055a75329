"""What candidates answered goes out again: for exports that teach by it."""

from collections.abc import Iterator, Sequence

from callwright.flows.evaluation.gate import find_contestant
from callwright.validators.audit.defects import wrong_calls
from callwright.validators.audit.subjects import AuditSubject, gather
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.exports.formats import EXPORTS
from callwright.warehouse.exports.writing import Format, TableFormat
from callwright.warehouse.records import Sample
from callwright.warehouse.releases import (
    Answerers,
    AnswerReader,
    PassRates,
    ReleaseStream,
    parse_pass_rates,
    samples_by_key,
    splits_of,
)
from callwright.warehouse.store import Warehouse

_GIVING = 1_000  # samples whose values may be put into others


def require_answers_fit(form: Format | TableFormat, from_answers: Sequence[str], pass_rate: str) -> None:
    """Raise ConfigurationError where a format has no place for answers, or a band of pass rates is of nobody."""
    if from_answers and (isinstance(form, TableFormat) or form.answers == "none"):
        takers = ", ".join(one.name for one in EXPORTS.rows() if isinstance(one, Format) and one.answers != "none")
        raise ConfigurationError(f"The format {form.name!r} has no place for answers; {takers} have.")
    if pass_rate:
        parse_pass_rates(pass_rate)
        if not from_answers:
            raise ConfigurationError("A pass rate is that of candidates: name them by --from-answers.")


def with_answers(
    warehouse: Warehouse, stream: ReleaseStream, from_answers: Sequence[str], pass_rate: str
) -> ReleaseStream:
    """The release with what these candidates answered, what people corrected, and planted defects.

    Raises ConfigurationError for an unknown candidate.
    """
    name = stream.release.name
    candidates = tuple(find_contestant(warehouse, name, one) for one in from_answers)
    band = parse_pass_rates(pass_rate) if pass_rate else PassRates()
    keys = [*splits_of(warehouse, name)]
    pool = gather(samples_by_key(warehouse, keys[:: len(keys) // _GIVING + 1]).values())

    def planted(sample: Sample) -> Iterator[tuple[str, Sample]]:
        return wrong_calls(AuditSubject(sample, stream.tools, pool))

    reader = AnswerReader(warehouse, name, Answerers(candidates, band), planted)
    return stream._replace(samples=reader.through(stream.samples), answers=reader.of)
