"""Plan derivations: the source of each dialogue, shift and external reference (HammerBench 4.2).

Sources take turns in a seeded order, so the same sources always give the same plan.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from random import Random

from callwright.generators.families import Kind, Obstacle
from callwright.generators.tools import are_redundant
from callwright.warehouse.records import Derivation, Origin, Sample, Tool

STAGE = "derivations"
# of the dialogues; 404 of HammerBench's 1,098 have more than one question (section 5)
_SEVERAL_QUESTIONS = 0.45
_TRIES = 20


def plan_derivations(  # noqa: PLR0913 - the keys apart from the sources, which are not read for them
    kind: Kind,
    sources: Sequence[Sample],
    tools: Mapping[str, Tool],
    *,
    seed: int,
    obstacle: Obstacle,
    others: Sequence[Sample] = (),
    keys: Iterable[str] | None = None,
) -> Iterator[Derivation]:
    """Yield possible derivations of a kind, best first, until the sources are used up.

    `others` lend requests to intent shifts. With `keys`, sources are ordered without being read.
    Sources with an obstacle are skipped; a stage that still meets one fails with the same
    reason. There may be millions of sources in storage: one is held at a time, and only the
    positions of the others.
    """
    if kind.transform is None:
        return
    ordered = _shuffled(
        keys if keys is not None else (source.key for source in sources), kind.name, seed
    )
    if kind.favours_lacking:
        ordered = _with_long_ones(ordered, sources, tools)
    # a flag each: what stands against one use does so against all
    passed_over = bytearray(len(sources))
    for use in range(kind.uses):
        for at in ordered:
            if passed_over[at]:
                continue
            source = sources[at]
            if obstacle(source, tools):
                passed_over[at] = True
                continue
            rng = Random(f"{seed}:{kind.name}:{source.key}:{use}")
            lending_sample = _another_request(source, others, tools, rng) if kind.borrows else None
            if kind.borrows and lending_sample is None:
                continue
            yield Derivation(
                transform=kind.transform,
                source=source,
                other=lending_sample,
                seed=rng.getrandbits(32),
                origin=Origin(
                    stage=STAGE,
                    parents=(source.key, *([lending_sample.key] if lending_sample else [])),
                ),
            )


def _shuffled(keys: Iterable[str], kind: str, seed: int) -> "array[int]":
    """Return the positions of the sources with these keys, in an order given by the seed."""
    import numpy as np

    digests = (blake2b(f"{seed}:{kind}:{key}".encode()).digest() for key in keys)
    ranks = array("Q", (int.from_bytes(digest[:8]) for digest in digests))
    return array("q", np.argsort(np.frombuffer(ranks, np.uint64), kind="stable").tobytes())


def _with_long_ones(
    ordered: "array[int]", sources: Sequence[Sample], tools: Mapping[str, Tool]
) -> "array[int]":
    """Spread sources that lack several arguments evenly over the order, up to the wanted share."""
    several, single, mixed = array("q"), array("q"), array("q")
    for at in ordered:
        (several if _missing(sources[at], tools) > 1 else single).append(at)
    with_several = 0
    while len(mixed) < len(ordered):
        wants_several = len(mixed) * _SEVERAL_QUESTIONS >= with_several
        with_one = len(mixed) - with_several
        is_several = with_several < len(several) and (wants_several or with_one == len(single))
        mixed.append(several[with_several] if is_several else single[with_one])
        with_several += is_several
    return mixed


def _missing(source: Sample, tools: Mapping[str, Tool]) -> int:
    tool = _gold_tool(source, tools)
    return sum(name not in source.gold[0].arguments for name in tool.required) if tool else 0


def _another_request(
    source: Sample, others: Sequence[Sample], tools: Mapping[str, Tool], rng: Random
) -> Sample | None:
    """Pick a same-language request for a tool that no candidate can replace, or None."""
    candidate_tools = [tools[key] for key in source.candidates if key in tools]
    for _ in range(_TRIES if others else 0):
        other_request = rng.choice(others)
        wanted = _gold_tool(other_request, tools)
        if (
            other_request.language == source.language
            and wanted
            and not any(are_redundant(wanted, one) for one in candidate_tools)
        ):
            return other_request
    return None


def _gold_tool(sample: Sample, tools: Mapping[str, Tool]) -> Tool | None:
    names = {call.tool for call in sample.gold}
    return next(
        (tools[key] for key in sample.candidates if key in tools and tools[key].name in names), None
    )
