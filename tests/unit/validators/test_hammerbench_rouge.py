"""Rouge-L as HammerBench scores with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.hammerbench.scores import hammerbench_rouge_l

WORDS = st.lists(st.sampled_from(["a", "b", "c", "三", "x.y", "."]), max_size=8).map(" ".join)


@pytest.mark.parametrize("language", ["en", "zh"])
@given(text=st.text(alphabet="ab三 ", min_size=1).filter(lambda text: text.strip()))
def test_a_text_is_all_but_exactly_like_itself(text: str, language) -> None:
    assert hammerbench_rouge_l(text, text, language) == 0.999999995


@given(one=WORDS, other=WORDS)
def test_a_score_lies_between_nothing_and_all(one: str, other: str) -> None:
    assert 0.0 <= hammerbench_rouge_l(one, other, "en") <= 1.0
    assert 0.0 <= hammerbench_rouge_l(one, other, "zh") <= 1.0


@pytest.mark.parametrize(
    ("reference", "hypothesis", "language", "score"),
    [
        ("", "", "en", 1.0),
        ("", "a", "en", 0.0),
        ("...", "a", "en", 0.0),
        ("Hotel", "hotel.", "en", 0.999999995),
        ("Hotel", "hotel", "zh", 0.0),
        ("a a a b", "a b", "en", 0.999999995),
        ("one two three", "three two one", "en", pytest.approx(1 / 3, abs=1e-8)),
        ("北京市", "北京", "zh", pytest.approx(0.8, abs=1e-8)),
        ("北京市", "北京", "en", 0.0),
    ],
)
def test_known_pairs_have_their_score(
    reference: str, hypothesis: str, language, score: float
) -> None:
    assert hammerbench_rouge_l(reference, hypothesis, language) == score
