"""What each claim of data that others bring rests on: code, words that are only stated, a model that read it, or nothing yet."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from callwright.validators.checks.declaring import ALL, ARGUMENTS
from callwright.validators.checks.grounding import check_grounding, root_of
from callwright.validators.checks.table import all_checks, settled_claims
from callwright.validators.values.standing import STANDINGS, Standing
from callwright.warehouse.records import DoubtedFact, SampleClaim, Verdict

ClaimStanding = Literal["proved", "stated", "read", "open", "contradicted"]


class CheckedClaim(NamedTuple):
    """What a claim rests on.

    `read_by` is the model that read it, and `precision` how often such readings were right where
    that is measured: None where it is not.
    """

    standing: ClaimStanding
    read_by: str = ""
    precision: float | None = None


class Hint(NamedTuple):
    """What rules can't place, for whoever reads: a negation, a condition, a number left over, with its words."""

    kind: str
    quote: str


def claims_by_rules(arguments: Mapping[str, Standing]) -> dict[SampleClaim, CheckedClaim]:
    """The claims where no model has read: values stand as rules found them, and what is asked for is open."""
    nothing: Standing = "proved"
    weakest = min(arguments.values(), key=STANDINGS.index, default=nothing)
    values: ClaimStanding = "open" if weakest == "unproved" else weakest
    return {one: CheckedClaim(values if one in ARGUMENTS else "open") for one in ALL}


def claims_of(verdicts: Iterable[Verdict], arguments: Mapping[str, Standing]) -> dict[SampleClaim, CheckedClaim]:
    """The claims by what checks found: code before a model that read, and that before what is only stated."""
    found = list(verdicts)
    settled = settled_claims(found)
    claims = claims_by_rules(arguments)
    settling = {check.name: check.settles for check in all_checks()}
    for claim in settled.claimed:
        if claim in settled.by_rules:
            claims[claim] = CheckedClaim("proved")
        elif claim in settled.by_models:
            reader = next(one.model for one in found if one.grade == "judged" and claim in settling.get(one.check, ()))
            claims[claim] = CheckedClaim("read", reader)
        elif claim not in ARGUMENTS or claims[claim].standing == "proved":
            claims[claim] = CheckedClaim("open")
    return claims


def standing_of_arguments(verdicts: Iterable[Verdict]) -> dict[str, Standing]:
    """For each argument how it stands by the grounding of all calls: that of its weakest place."""
    grounded = next((one for one in verdicts if one.check == check_grounding.name), None)
    if grounded is None:
        return {}
    doubted: dict[str, Standing] = {"only_stated": "stated", "other_said": "contradicted"}
    found: list[tuple[str, Standing]] = [(root_of(one.argument), "proved") for one in grounded.evidence]
    found += [(_named(one), doubted.get(one.kind, "unproved")) for one in grounded.doubts if one.argument]
    weakest: dict[str, Standing] = {}
    for name, standing in found:
        weakest[name] = min(weakest.get(name, standing), standing, key=STANDINGS.index)
    return weakest


def _named(fact: DoubtedFact) -> str:
    return root_of(fact.argument)
