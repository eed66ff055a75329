"""Tests of options that not every format has a place for."""

import pytest

from callwright.flows.evaluation.answers import require_options_fit
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.exports.formats import format_of


@pytest.mark.parametrize("to", ["bfcl", "nemo-gym", "parquet", "records", "trl-dpo"])
def test_parallel_calls_are_put_in_turn_only_where_rows_are_chats(to: str) -> None:
    with pytest.raises(ConfigurationError, match="atif, hf, openai, sharegpt, trl, trl-grpo"):
        require_options_fit(format_of(to), [], "", one_call_at_a_time=True)


def test_calls_of_candidates_are_not_put_in_turn() -> None:
    require_options_fit(format_of("openai"), [], "", one_call_at_a_time=True)
    with pytest.raises(ConfigurationError, match="can't be combined with --from-answers"):
        require_options_fit(format_of("openai"), ["template/v1"], "", one_call_at_a_time=True)
