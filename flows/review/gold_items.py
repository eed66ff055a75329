"""Questions with a known answer mixed among others: half are right, half have a defect.

They are samples of their own that no build counts and that never land. People see them like any
spot check.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from random import Random
from typing import NamedTuple

import orjson

from callwright.annotation.agreement import answer_of_edit
from callwright.annotation.screens import SAMPLE_REVIEW, TRAINING
from callwright.flows.recipe import Recipe
from callwright.flows.review.questions import (
    DRAWN,
    GOLD_ITEM,
    SPOT_CHECK,
    ReviewQuestion,
    request_row,
)
from callwright.validators.audit.defects import OF_GOLD, inject
from callwright.validators.audit.subjects import AuditSubject, gather
from callwright.validators.checks.format import SampleWithTools, format_verdict
from callwright.validators.checks.grounding import all_found
from callwright.validators.origins import root_of
from callwright.warehouse.queries import sql
from callwright.warehouse.records import CallTurn, Evidence, GoldCall, Origin, Sample, Tool, Verdict
from callwright.warehouse.releases import read_tools
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.store import Warehouse

STAGE = "gold_item"
_ACCEPT, _REJECT = "accept", "reject"
_AT_ONCE = 20


class _Item(NamedTuple):
    """A gold item: what is shown, the right answer, its defect, and its source sample.

    `answer` is the content of an edit that is right as well.
    """

    sample: Sample
    expected: str
    defect: str
    made_of: str
    answer: str


def mix_gold_items(warehouse: Warehouse, build: str, recipe: Recipe) -> int:
    """Add gold items to a build's sample questions up to the recipe's rate; return how many.

    The same build gets the same items, and earlier ones stay.
    """
    return _keep_items(
        warehouse,
        build,
        recipe,
        _lacking(warehouse, build, recipe.review.gold_items),
        SAMPLE_REVIEW,
    )


def make_training_items(warehouse: Warehouse, build: str, recipe: Recipe, count: int) -> int:
    """Make `count` training items from a build's samples, outside the queue; return how many."""
    good = count // 2
    return _keep_items(warehouse, build, recipe, {_REJECT: count - good, _ACCEPT: good}, TRAINING)


def _keep_items(
    warehouse: Warehouse, build: str, recipe: Recipe, lacking: Mapping[str, int], kind: str
) -> int:
    items: list[_Item] = []
    held = warehouse.rows(sql("gold_items.held"), [kind])
    requests = {Sample.model_validate_json(row["body"]).request for row in held}
    for expected, count in lacking.items():
        used = {item.made_of for item in items}
        originals = _originals(warehouse, build, recipe.seed, expected)
        made = _made(
            warehouse, [key for key in originals if key not in used], expected, recipe.seed
        )
        items += islice(_without_repeats(made, requests), count)
    now, reviewers = datetime.now(UTC), recipe.review.reviewers_of(SPOT_CHECK)
    samples = [
        item.sample.with_changes(
            origin=Origin(stage=STAGE, build=build, parents=(item.made_of,), seed=recipe.seed)
        )
        for item in items
    ]
    # One transaction: a gold item must never be asked about as if it were a sample like others.
    warehouse.put_rows(
        {
            "samples": [row for _, row in rows_of(samples, now)],
            "gold_items": [
                {"subject": item.sample.key, "kind": kind, "made_at": now}
                | {
                    name: getattr(item, name)
                    for name in ("expected", "defect", "made_of", "answer")
                }
                for item in items
            ],
            "review_requests": [  # as a spot check would be asked
                request_row(
                    ReviewQuestion(item.sample.key, GOLD_ITEM, DRAWN, build, reviewers=reviewers)
                )
                for item in items
                if kind == SAMPLE_REVIEW
            ],
        }
    )
    return len(items)


def _without_repeats(items: Iterator[_Item], requests: set[str]) -> Iterator[_Item]:
    """Yield the items whose request differs from all before; `requests` keeps those seen.

    Related items give each other away.
    """
    for item in items:
        if item.sample.request not in requests:
            requests.add(item.sample.request)
            yield item


def gold_rows(warehouse: Warehouse, keys: Sequence[str]) -> list[Row]:
    """Return the rows of those `keys` that are gold items."""
    return warehouse.rows(
        "from gold_items where list_contains(?::varchar[], subject) order by subject", [list(keys)]
    )


def verdicts_shown(
    item: Sample, defect: str, tools: Sequence[Tool], original: Sequence[Verdict]
) -> list[Verdict]:
    """Return the verdicts shown beside a gold item: its original's, as if no defect was found.

    The item itself has the evidence of its values.
    """
    shown = {one.check: one.with_changes(subject=item.key, evidence=()) for one in original}
    if not defect:
        return list(shown.values())
    arguments = sum(len(call.arguments) for call in item.all_calls)
    reasons = {
        "format": format_verdict(_subject(item, tools)).reason,
        "grounding": all_found(arguments),
    }
    return [
        one.with_changes(reason=reasons.get(check, one.reason))
        for check, one in sorted(shown.items())
    ]


def _subject(sample: Sample, tools: Sequence[Tool]) -> SampleWithTools:
    return SampleWithTools(sample, {tool.key: tool for tool in tools}, {})


def _lacking(warehouse: Warehouse, build: str, rate: float) -> dict[str, int]:
    """Return how many gold items are missing by expected answer.

    `rate` is their number per hundred questions.
    """
    if not rate:
        return {}
    [counts] = warehouse.rows(sql("gold_items.counts"), [SAMPLE_REVIEW, build])
    wanted = max(1, round(rate * counts["questions"] / 100)) if counts["questions"] else 0
    good = wanted // 2
    lacking = {_REJECT: wanted - good - counts["spoiled"], _ACCEPT: good - counts["good"]}
    return {expected: count for expected, count in lacking.items() if count > 0}


def _originals(warehouse: Warehouse, build: str, seed: int, expected: str) -> list[str]:
    """Return the landed samples for gold items, the best first, others in the seed's order.

    Good items are best if a person has accepted the sample, spoiled ones if nobody has seen it.
    """
    rows = warehouse.rows(sql("gold_items.originals"), [build, SAMPLE_REVIEW])
    rows.sort(
        key=lambda row: (
            row["is_vouched"] != (expected == _ACCEPT),
            blake2b(f"{seed}:{STAGE}:{row['key']}".encode(), digest_size=8).digest(),
        )
    )
    return [row["key"] for row in rows]


def _made(warehouse: Warehouse, keys: Sequence[str], expected: str, seed: int) -> Iterator[_Item]:
    """Yield gold items made from these samples, where possible."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        read = {row["key"]: row for row in warehouse.rows(sql("gold_items.bodies"), [some])}
        for key in some:
            sample = _proved(
                Sample.model_validate_json(read[key]["body"]), orjson.loads(read[key]["evidence"])
            )
            item = _item(warehouse, sample, key, expected, seed) if _is_open(sample) else None
            if item is not None:
                yield item


def _item(
    warehouse: Warehouse, sample: Sample, made_of: str, expected: str, seed: int
) -> _Item | None:
    # its content says what it is, and nobody is shown it
    facts = sample.facts.with_changes(labels=(*sample.facts.labels, STAGE))
    marked = sample.with_changes(facts=facts)
    answer = answer_of_edit(sample)
    if expected == _ACCEPT:
        return _Item(marked, expected, "", made_of, answer)
    known = read_tools(warehouse, sample.candidates)
    tools = [known[key] for key in sample.candidates]
    subject, rng = (
        AuditSubject(marked, {tool.key: tool for tool in tools}, gather([])),
        Random(f"{seed}:{made_of}"),
    )
    for injector in rng.sample(OF_GOLD, len(OF_GOLD)):
        broken = inject(injector, subject, rng)
        if (
            broken is not None
            and _lacks_evidence(broken.sample)
            <= _lacks_evidence(sample)  # what nobody has words for gives itself away
            and format_verdict(_subject(broken.sample, tools)).decision == "proved"
        ):
            return _Item(broken.sample, expected, injector.name, made_of, answer)
    return None


def _lacks_evidence(sample: Sample) -> int:
    return sum(
        name not in {root_of(one.argument) for one in call.evidence}
        for call in sample.all_calls
        for name in call.arguments
    )


def _is_open(sample: Sample) -> bool:
    """Whether nothing depends on the final calls, so that they may be changed."""
    return not any(turn.executed for _, turn in sample.call_turns)


def _proved(sample: Sample, evidence: Sequence[Mapping[str, object]]) -> Sample:
    """Return the sample with a check's evidence in its last calls, as other samples show it."""
    uses = Counter(name for call in sample.gold for name in call.arguments)
    found = (Evidence.model_validate(item) for item in evidence)
    proofs = {item.argument: item for item in found if uses[item.argument] == 1}
    last = max((at for at, _ in sample.call_turns), default=-1)
    turns = [
        (
            turn.with_changes(calls=tuple(_with_proofs(call, proofs) for call in turn.calls))
            if at == last and isinstance(turn, CallTurn)
            else turn
        )
        for at, turn in enumerate(sample.turns)
    ]
    return sample.with_changes(turns=tuple(turns))


def _with_proofs(call: GoldCall, proofs: Mapping[str, Evidence]) -> GoldCall:
    kept = [item for item in call.evidence if item.argument not in proofs]
    return call.with_changes(
        evidence=(*kept, *(proofs[name] for name in call.arguments if name in proofs))
    )
