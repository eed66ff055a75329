"""The soft AST match: texts by a scorer, all other values strictly (CONFETTI 4.1).

The paper says neither how the scores of parameters make up a call's score, nor how a missing or
unexpected parameter counts. Here a call of another tool, or with another set of parameters, is
worth 0, as in the strict match; otherwise its score is the mean over its parameters. `Combining`
offers the alternatives.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import prod
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from callwright.language.text import fold
from callwright.language.values import locate
from callwright.validators.embeddings import likeness, read_ahead
from callwright.validators.matching import rouge_l
from callwright.validators.metrics.confetti.bfcl import (
    NESTED,
    OPTIONAL,
    TYPES,
    UnreadableAnswerError,
    check_value,
    is_string_accepted,
)
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from callwright.validators.metrics.confetti.bfcl import DecodedCall, Document


Way = Literal["mean", "product", "least"]
# how well a given text says what the gold text says, in 0..1: scorer(reference, given)
StringScorer = Callable[[str, str], float]
_COMBINED: Mapping[Way, Callable[[list[float]], float]] = {
    "mean": fmean,
    "product": prod,
    "least": min,
}
DEFAULT = "meaning"
ALIGN_SCORE = "alignscore"
_WORDS = re.compile(r"\w+")
_CACHED = 65_536
# short values that have nothing to do with each other reach such cosines with this encoder
_UNRELATED = 0.5


class Combining(NamedTuple):
    """How the scores of parameters make a call's score: their mean, product or minimum.

    With `whole` a missing or unexpected parameter makes the call worth 0; without, it is one
    more parameter that is worth 0.
    """

    way: Way = "mean"
    whole: bool = True


class SoftScore(NamedTuple):
    """A call's score, that of each parameter, and the reason if the whole call scores 0."""

    score: float
    parameters: Mapping[str, float]
    problem: str = ""


def score_call(
    made: Sequence[DecodedCall] | None,
    answer: Mapping[str, Mapping[str, Any]],
    scorer: StringScorer,
    combining: Combining = Combining(),  # noqa: B008 - a plain value that nobody changes
    document: Document | None = None,
) -> SoftScore:
    """Score the calls made for one due call.

    Without its tool's document, types are those of the accepted values.
    """
    name, accepted = next(iter(answer.items()))
    if not made or len(made) != 1:
        return SoftScore(0.0, {}, f"There are {len(made or ())} calls for one.")
    call = made[0]
    if call.name != name:
        return SoftScore(0.0, {}, f"The call is to {call.name!r}, not to {name!r}.")
    properties = ((document or {}).get("parameters") or {}).get("properties") or {}
    due = [
        one for one, wanted in accepted.items() if one in call.arguments or OPTIONAL not in wanted
    ]
    strange = [one for one in call.arguments if one not in accepted]
    odd = [*(one for one in due if one not in call.arguments), *strange]
    if odd and combining.whole:
        return SoftScore(0.0, {}, f"{', '.join(map(repr, odd))} missing or not expected.")
    scores = {
        one: (
            score_value(call.arguments[one], accepted[one], scorer, properties.get(one))
            if one not in odd
            else 0.0
        )
        for one in [*due, *strange]
    }
    if not scores:
        return SoftScore(1.0, scores)
    return SoftScore(_COMBINED[combining.way](list(scores.values())), scores)


def texts_to_compare(
    call: DecodedCall, answer: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield the accepted and given texts to score, if the call has only parameters that are due."""
    name, accepted = next(iter(answer.items()))
    if call.name != name or not call.arguments.keys() <= accepted.keys():
        return
    for parameter, value in call.arguments.items():
        wanted = [one for one in accepted[parameter] if isinstance(one, str) and one != OPTIONAL]
        if isinstance(value, str) and not is_string_accepted(value, wanted):
            yield from ((text, value) for text in wanted)


def score_value(
    value: object, accepted: Sequence[Any], scorer: StringScorer, declared: Document | None = None
) -> float:
    """Return 1 for an accepted value, the scorer's result for texts, and 0 for anything else."""
    if declared is None and type(value) is str and all(type(one) is str for one in accepted):
        return 1.0 if is_string_accepted(value, accepted) else _score_text(value, accepted, scorer)
    # documents of other makes call numbers and objects otherwise
    shape = declared or {}
    is_known = str(shape.get("type")) in TYPES and (
        shape["type"] not in NESTED or str((shape.get("items") or {}).get("type")) in TYPES
    )
    best = 0.0
    for reading in readings(list(accepted), declared):
        declaration = declared if declared and is_known else declare(reading)
        try:
            valid = check_value("value", value, reading, declaration).valid
        except UnreadableAnswerError:  # such a value has no members that could be compared
            valid = False
        if valid:
            return 1.0
        if isinstance(value, str) and TYPES.get(str(declaration.get("type"))) is str:
            best = max(best, _score_text(value, reading, scorer))
    return best


def _score_text(value: str, accepted: Sequence[Any], scorer: StringScorer) -> float:
    """Return how well a text matches the accepted text that it matches best."""
    texts = [one for one in accepted if isinstance(one, str) and one != OPTIONAL]
    return max([0.0, *(max(0.0, min(1.0, scorer(text, value))) for text in texts)])


def declare(accepted: Sequence[Any]) -> dict[str, Any]:
    """Return the parameter type that the accepted values imply."""
    first: Any = next((one for one in accepted if one != OPTIONAL), "")
    kind = next((name for name, of in TYPES.items() if type(first) is of), "string")
    if isinstance(first, list):
        return {"type": kind, "items": declare(first)}
    # a whole number that the data have as 10.0 is given as 10, too
    return {"type": "integer" if isinstance(first, float) and first.is_integer() else kind}


def readings(accepted: list[Any], declared: Document | None = None) -> list[list[Any]]:
    """Return what accepted values may stand for.

    CONFETTI's dictionaries are not wrapped member by member as BFCL's are. A dictionary is read
    as such, with its members wrapped, and as the one member of a list; the tool's document
    decides, if there is one.
    """
    wrapped = [
        (
            {name: member if isinstance(member, list) else [member] for name, member in one.items()}
            if isinstance(one, dict)
            else one
        )
        for one in accepted
    ]
    if wrapped == accepted:
        return [accepted]
    kind = str((declared or {}).get("type"))
    return [
        reading
        for name, reading in (("dict", wrapped), ("array", [wrapped]))
        if kind not in {"dict", "array"} - {name}
    ]


def score_words(reference: str, given: str) -> float:
    """Return the token F1: the overlap of words, ignoring order and case."""
    return _f1(Counter(_WORDS.findall(reference.lower())), Counter(_WORDS.findall(given.lower())))


def score_exactly(reference: str, given: str) -> float:
    """Return 1 for an identical text, else 0, which makes the soft match strict."""
    return float(reference == given)


def score_meaning(reference: str, given: str) -> float:
    """Return how close two texts are in meaning, times how many figures and codes they share.

    Two notations of one value, such as a date, count as the same value. Another number, date or
    identifier is another value, however similar its spelling.
    """
    plain = _plain_score(reference, given)
    if plain is not None:
        return plain
    figures, others = _figures(reference), _figures(given)
    cosine = likeness([reference], [given])[0][0]
    near = max(0.0, min(1.0, (cosine - _UNRELATED) / (1 - _UNRELATED)))
    return near * _f1(figures, others) if figures or others else near


def foresee(scorer: StringScorer, pairs: Iterable[tuple[str, str]]) -> None:
    """Prepare for the pairs that a scorer will be asked about.

    Reading texts together takes a tenth of the time.
    """
    if scorer is score_meaning:
        read_ahead(
            text for pair in dict.fromkeys(pairs) if _plain_score(*pair) is None for text in pair
        )


@lru_cache(_CACHED)
def _plain_score(reference: str, given: str) -> float | None:
    """Return the score if it needs no encoder, else None."""
    if fold(reference) == fold(given):
        return 1.0
    if not reference.strip() or not given.strip():
        return 0.0
    if locate(reference, {}, given) is not None and locate(given, {}, reference) is not None:
        return 1.0  # each says the other, by a rule of our language module
    figures, others = _figures(reference), _figures(given)
    # a date, a number or an identifier, without a word
    is_code = figures.total() == len(_WORDS.findall(reference))
    if is_code and figures != others:
        return 0.0
    return 0.0 if (figures or others) and not _f1(figures, others) else None


def _figures(text: str) -> Counter[str]:
    return Counter(
        word for word in _WORDS.findall(text.lower()) if any(sign.isdigit() for sign in word)
    )


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
    """Return the scorer of this name; `weights` is AlignScore's checkpoint.

    Raises ConfigurationError if there is none.
    """
    if name == ALIGN_SCORE:
        return _open_align_score(weights)
    if name not in SCORERS:
        raise ConfigurationError(
            f"There is no scorer {name!r}; the scorers are {', '.join([*SCORERS, ALIGN_SCORE])}."
        )
    return SCORERS[name]


def _open_align_score(weights: Path | None) -> StringScorer:
    """Open the paper's scorer. Raise ConfigurationError if its checkpoint or package is missing."""
    if weights is None or not weights.is_file():
        raise ConfigurationError(
            f"The scorer {ALIGN_SCORE!r} needs the file of AlignScore-base's checkpoint, not"
            f" {str(weights or '')!r}."
        )
    try:
        package = importlib.import_module("alignscore")
    except ImportError as error:
        raise ConfigurationError(
            f"The scorer {ALIGN_SCORE!r} needs the package alignscore, which can't be imported:"
            f" {error}. Install it with its torch, or take the scorer 'meaning'."
        ) from error
    scorer = package.AlignScore(
        model="roberta-base",
        batch_size=1,
        device="cpu",
        ckpt_path=str(weights),
        evaluation_mode="nli_sp",
    )

    def score(reference: str, given: str) -> float:
        if not reference.strip() or not given.strip():
            return 0.0
        return float(scorer.score(contexts=[reference], claims=[given])[0])

    return score
