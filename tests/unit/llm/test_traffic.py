"""What is under way is counted while it happens, however it ends."""

import pytest

from callwright.llm.limits import Traffic


def test_requests_are_counted_from_sending_to_their_end() -> None:
    traffic = Traffic()
    with traffic.request("wording", "a/b"):
        assert (traffic.sent, traffic.answered, traffic.under_way) == (1, 0, 1)
        with traffic.request("values", "a/b"):
            assert (traffic.under_way, traffic.last) == (2, "values of a/b")
    assert (traffic.sent, traffic.answered, traffic.failed, traffic.under_way) == (2, 2, 0, 0)


def test_before_the_first_answer_the_longest_wait_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 10.0
    monkeypatch.setattr("callwright.llm.limits.time.monotonic", lambda: now)
    traffic = Traffic()
    with traffic.request("wording", "a/b"):
        now = 14.0
        with traffic.request("wording", "a/b"):
            now = 50.0
            assert traffic.slowest.seconds_an_answer == 40.0
            now = 60.0
    assert traffic.slowest.seconds_an_answer == (50.0 + 46.0) / 2


def test_the_pace_is_that_of_the_slowest_model_that_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("callwright.llm.limits.time.monotonic", lambda: now)
    traffic = Traffic()
    for _ in range(100):
        with traffic.request("values", "template/v1"):
            pass
    with traffic.request("wording", "a/slow"):
        now = 30.0
    assert (traffic.slowest.seconds_an_answer, traffic.answered) == (30.0, 101)
    with traffic.request("values", "template/v1"):
        assert traffic.slowest.seconds_an_answer == 0, "nobody waits for the slow one any more"
