"""How a recipe has its requests worded."""

from pathlib import Path

import pytest

from callwright.flows.recipe import read_recipe
from callwright.flows.run.plan import build_key
from callwright.warehouse.errors import ConfigurationError

GOOD = "name: r\ntools: [{seed: [Weather]}]\nsamples: {perfect: 2}\n"
FREE = f"{GOOD}models: {{generator: openai/x}}\nwording: free\n"


def read(folder: Path, text: str):  # type: ignore[no-untyped-def]
    (folder / "recipe.yaml").write_text(text, encoding="utf-8")
    return read_recipe(folder / "recipe.yaml")


def test_slots_are_the_default_and_the_way_is_part_of_the_key(tmp_path: Path) -> None:
    plain = read(tmp_path, GOOD)
    assert (plain.wording, plain.value_sets) == ("slots", 1)
    assert build_key(read(tmp_path, f"{GOOD}value_sets: 3\n"), []) != build_key(plain, [])
    free = read(tmp_path, FREE)
    assert build_key(free, []) != build_key(free.model_copy(update={"wording": "slots"}), [])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{GOOD}wording: free\n", "template/v1 words requests with slots only"),
        (f"{FREE}value_sets: 2\n", "value_sets needs wording: slots"),
        (f"{GOOD}value_sets: 0\n", "value_sets"),
    ],
)
def test_what_can_not_be_worded_is_said(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        read(tmp_path, text)
