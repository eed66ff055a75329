"""Intervals of metrics: Wilson's for plain shares, a bootstrap over samples else, the same as
scipy's.
"""

import numpy as np
import pytest

from callwright.validators.metrics.ratios import Addend, interval_of, share_interval


@pytest.mark.parametrize(("met", "whole"), [(0, 5), (3, 5), (17, 20), (20, 20), (1, 1000)])
def test_a_share_has_wilsons_interval(met: int, whole: int) -> None:
    from scipy.stats import (
        binomtest,
    )  # not above: it takes a second of every worker that collects the tests

    bounds = binomtest(met, whole).proportion_ci(method="wilson")
    assert share_interval(met, whole) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
    parts = [Addend(1, 1, met), Addend(0, 1, whole - met)]
    assert interval_of(parts) == share_interval(met, whole)


def test_a_ratio_over_samples_has_the_interval_that_scipy_draws() -> None:
    from scipy.stats import bootstrap

    random = np.random.default_rng(7)
    whole = random.integers(1, 6, 300)
    met = random.binomial(whole, 0.6)

    def ratio(right: np.ndarray, due: np.ndarray, axis: int) -> np.ndarray:
        return right.sum(axis) / due.sum(axis)

    theirs = bootstrap(
        (met, whole),
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=5000,
        method="percentile",
        rng=random,
    ).confidence_interval
    ours = interval_of(Addend(int(right), int(due)) for right, due in zip(met, whole, strict=True))
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.01)
