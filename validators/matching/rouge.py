"""Rouge-L between two values (HammerBench 4.2.1): rouge-score's scorer with a tokenizer that reads Chinese too.

Chinese counts by character, as HammerBench counts it: cutting it into words would let one wrong cut hide two equal
values, and costs a second to load.
"""

import re
from functools import cache, lru_cache
from typing import Any

from language.text import folded

_CACHED = 65_536
_TOKENS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")


class _Tokenizer:
    """Words of Latin and other scripts, single characters of Chinese; case, width and accents are folded."""

    def tokenize(self, text: str) -> list[str]:
        return _TOKENS.findall(folded(text).text)


@lru_cache(_CACHED)
def rouge_l(reference: str, hypothesis: str) -> float:
    """The F measure of Rouge-L in 0..1; equal texts give 1 without loading the scorer."""
    if reference == hypothesis:
        return 1.0
    return float(_scorer().score(reference, hypothesis)["rougeL"].fmeasure)


@cache
def _scorer() -> Any:  # noqa: ANN401 - rouge_score has no types
    from rouge_score.rouge_scorer import RougeScorer  # five seconds when cold, and equal values never need it

    return RougeScorer(["rougeL"], tokenizer=_Tokenizer())
