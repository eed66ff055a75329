"""What is under way is counted while it happens, however it ends."""

import asyncio

import pytest

from callwright.llm.limits import Traffic


def test_requests_are_counted_from_sending_to_their_end() -> None:
    traffic = Traffic()
    with traffic.request("wording of a/b"):
        assert (traffic.sent, traffic.answered, traffic.under_way) == (1, 0, 1)
        with traffic.request("values of a/b"):
            assert (traffic.under_way, traffic.last) == (2, "values of a/b")
    assert (traffic.sent, traffic.answered, traffic.failed, traffic.under_way) == (2, 2, 0, 0)


@pytest.mark.parametrize("error", [ValueError("no"), asyncio.CancelledError()])
def test_what_fails_or_is_called_off_waits_no_longer(error: BaseException) -> None:
    traffic = Traffic()
    with pytest.raises(type(error)), traffic.request("wording of a/b"):
        raise error
    assert (traffic.sent, traffic.answered, traffic.failed, traffic.under_way) == (1, 0, 1, 0)


def test_before_the_first_answer_the_longest_wait_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 14.0, 30.0, 50.0])
    monkeypatch.setattr("callwright.llm.limits.time.monotonic", lambda: next(clock))
    traffic = Traffic()
    with traffic.request("first"), traffic.request("second"):
        began = traffic.seconds_an_answer  # the default of an empty run is read at 30, the longest wait at 50
        monkeypatch.setattr("callwright.llm.limits.time.monotonic", lambda: 60.0)
    assert began in {20.0, 40.0}
    assert traffic.seconds_an_answer == (50.0 + 46.0) / 2
