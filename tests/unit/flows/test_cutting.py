"""Shards are cut by time, whatever a record takes."""

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.flows.run.carry import SHARD_SECONDS, ShardSizing, Spool

MANY = 1_000_000


def paced(
    *,
    most: int = 10_000,
    workers: int = 1,
    concurrency: int = 16,
    seen: tuple[int, float] = (0, 0.0),
) -> ShardSizing:
    pace = ShardSizing(most=most, workers=workers, concurrency=concurrency)
    pace.note(*seen)
    return pace


def sizes(pace: ShardSizing, left: int) -> list[int]:
    cut = []
    while left:
        cut.append(pace.next_size(left))
        left -= cut[-1]
    return cut


def test_a_shard_is_as_large_as_its_time_allows_at_the_pace_seen() -> None:
    assert paced(seen=(100, 10.0)).next_size(MANY) == 10 * SHARD_SECONDS
    assert paced(seen=(100, 1.0)).next_size(MANY) == 100 * SHARD_SECONDS


def test_the_first_shards_are_what_the_models_take_at_once_so_that_something_is_soon_seen() -> None:
    assert paced(concurrency=64).next_size(MANY) == 64
    assert paced(concurrency=2).next_size(MANY) == 2


def test_slow_records_do_not_make_shards_that_are_not_worth_it() -> None:
    assert paced(seen=(1, 600.0)).next_size(MANY) == 20


def test_the_recipe_has_the_last_word_about_the_size() -> None:
    assert paced(most=7, seen=(100, 1.0)).next_size(MANY) == 7


def test_the_last_records_are_shared_out_among_workers_but_not_where_one_process_carries_all() -> (
    None
):
    assert sizes(paced(workers=2, seen=(1000, 10.0)), 3000) == [1500, 750, 375, 250, 125]
    assert sizes(paced(workers=1, seen=(1000, 10.0)), 3000) == [2000, 1000]


def test_the_last_shard_is_small_where_the_others_land_while_models_are_asked() -> None:
    pace = ShardSizing(most=10_000, workers=1, concurrency=64, lands_beside=True)
    assert sizes(pace, 200) == [64, 64, 64, 8]
    pace.note(128, 0.4)
    assert (pace.next_size(616), pace.next_size(154)) == (462, 154)


@given(
    left=st.integers(1, 20_000),
    most=st.integers(100, 6000),
    workers=st.integers(1, 16),
    seen=st.tuples(st.integers(0, 5000), st.floats(0, 1000)),
)
def test_every_record_is_cut_once(
    left: int, most: int, workers: int, seen: tuple[int, float]
) -> None:
    cut = sizes(paced(most=most, workers=workers, seen=seen), left)
    assert sum(cut) == left
    assert all(1 <= size <= most for size in cut)


@given(lines=st.lists(st.binary(max_size=20), max_size=30), size=st.integers(1, 9))
def test_a_spool_gives_each_line_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    written = [line.replace(b"\n", b"") + b"\n" for line in lines]
    spool = Spool(folder / "all.jsonl", iter(written))
    spool.take_in(size)
    assert spool.left == min(size, len(written))
    spool.take_in()
    assert (spool.left, spool.is_whole) == (len(written), True)
    counts = list(
        takewhile(
            bool,
            (spool.cut(size, folder / f"{number}.jsonl") for number in range(len(written) + 1)),
        )
    )
    assert spool.left == 0
    assert b"".join(
        (folder / f"{number}.jsonl").read_bytes() for number in range(len(counts))
    ) == b"".join(written)
    spool.close()
    assert not (folder / "all.jsonl").exists()


def test_a_spool_that_is_closed_early_leaves_its_lines_nothing_to_hold_open(tmp_path: Path) -> None:
    is_open = True

    def lines() -> Iterator[bytes]:
        nonlocal is_open
        yield from (b"1\n", b"2\n")
        is_open = False

    given = lines()  # whoever made them still has them
    spool = Spool(tmp_path / "all.jsonl", given)
    spool.take_in(1)
    spool.close()
    assert not is_open


def test_models_that_answer_in_batches_get_all_that_a_shard_may_hold() -> None:
    pace = ShardSizing(most=5000, workers=2, concurrency=10_000, in_batches=True)
    pace.note(5000, 20_000.0)
    assert (pace.next_size(MANY), pace.next_size(70)) == (5000, 70)
