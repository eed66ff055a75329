"""How alike two texts are as a parameter's value: scorers for the soft match, one of which stands in for AlignScore.

The paper takes AlignScore-base, whose weights are no package. The default looks at the same thing, whether the given
text says what the gold one says, with an encoder that ships whole; figures and codes in it must be the very same.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from language.text import fold
from language.values import locate
from validators.embeddings import likeness, read_ahead
from validators.matching.rouge import rouge_l
from warehouse.errors import ConfigurationError

DEFAULT = "meaning"
ALIGN_SCORE = "alignscore"
_WORDS = re.compile(r"\w+")
_CACHED = 65_536
_UNRELATED = 0.5  # short values that have nothing to do with each other reach such cosines with this encoder


# how well a given text says what the gold text says, in 0..1: scorer(reference, given)
StringScorer = Callable[[str, str], float]


def score_words(reference: str, given: str) -> float:
    """Token F1: how many words both have, in whatever order, without case."""
    return _f1(Counter(_WORDS.findall(reference.lower())), Counter(_WORDS.findall(given.lower())))


def score_exactly(reference: str, given: str) -> float:
    """1 for the very same text, else 0: the soft match is then the strict one."""
    return float(reference == given)


def score_meaning(reference: str, given: str) -> float:
    """How near two texts are in meaning, times how many figures and codes they share.

    Two notations of one value, as of a date, are the same value. Another number, date or identifier is another value,
    however near it is in its letters.
    """
    plain = _plain_score(reference, given)
    if plain is not None:
        return plain
    figures, others = _figures(reference), _figures(given)
    cosine = likeness([reference], [given])[0][0]
    near = max(0.0, min(1.0, (cosine - _UNRELATED) / (1 - _UNRELATED)))
    return near * _f1(figures, others) if figures or others else near


def foresee(scorer: StringScorer, pairs: Iterable[tuple[str, str]]) -> None:
    """Prepare for the pairs that a scorer will be asked about: texts read together take a tenth of the time."""
    if scorer is score_meaning:
        read_ahead(text for pair in dict.fromkeys(pairs) if _plain_score(*pair) is None for text in pair)


@lru_cache(_CACHED)
def _plain_score(reference: str, given: str) -> float | None:
    """The score where it needs no encoder, None where it does."""
    if fold(reference) == fold(given) or _is_one_value(reference, given):
        return 1.0
    figures, others = _figures(reference), _figures(given)
    is_code = figures.total() == len(_WORDS.findall(reference))  # a date, a number or an identifier, without a word
    if not (reference.strip() and given.strip()) or (is_code and figures != others):
        return 0.0
    return 0.0 if (figures or others) and not _f1(figures, others) else None


def _is_one_value(reference: str, given: str) -> bool:
    """Whether each of two short texts says the other, by a rule of our language module."""
    if not reference.strip() or not given.strip():
        return False
    return locate(reference, {}, given) is not None and locate(given, {}, reference) is not None


def _figures(text: str) -> Counter[str]:
    return Counter(word for word in _WORDS.findall(text.lower()) if any(sign.isdigit() for sign in word))


def _f1(wanted: Counter[str], given: Counter[str]) -> float:
    shared = (wanted & given).total()
    return 2 * shared / (wanted.total() + given.total()) if shared else 0.0


SCORERS: dict[str, StringScorer] = {
    DEFAULT: score_meaning,
    "words": score_words,
    "rouge": rouge_l,
    "exact": score_exactly,
}


def open_scorer(name: str = DEFAULT, weights: Path | None = None) -> StringScorer:
    """The scorer of this name; `weights` is AlignScore's checkpoint. Raises ConfigurationError where there is none."""
    if name == ALIGN_SCORE:
        return _open_align_score(weights)
    if name not in SCORERS:
        raise ConfigurationError(f"There is no scorer {name!r}; the scorers are {', '.join([*SCORERS, ALIGN_SCORE])}.")
    return SCORERS[name]


def _open_align_score(weights: Path | None) -> StringScorer:
    """The paper's scorer, of a checkpoint and a package that are not ours to bring."""
    if weights is None or not weights.is_file():
        raise ConfigurationError(
            f"The scorer {ALIGN_SCORE!r} needs the file of AlignScore-base's checkpoint, not {str(weights or '')!r}."
        )
    try:
        package = importlib.import_module("alignscore")
    except ImportError as error:
        raise ConfigurationError(
            f"The scorer {ALIGN_SCORE!r} needs the package alignscore, which can't be imported: {error}. Install it "
            "with its torch, or take the scorer 'meaning'."
        ) from error
    scorer = package.AlignScore(
        model="roberta-base", batch_size=1, device="cpu", ckpt_path=str(weights), evaluation_mode="nli_sp"
    )

    def score(reference: str, given: str) -> float:
        if not reference.strip() or not given.strip():
            return 0.0
        return float(scorer.score(contexts=[reference], claims=[given])[0])

    return score
