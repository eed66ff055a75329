"""The table of stages, and all that is said about it elsewhere."""

from itertools import pairwise
from pathlib import Path

import pytest

import callwright.warehouse.records
from callwright.flows.stages import all_stages, stage_named, stage_page, stages_of
from callwright.generators.stages import Stage
from callwright.warehouse.errors import ConfigurationError

TOP = Path(__file__).parents[3]


def test_an_unknown_stage_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match=r"no stage 'semantics'; the stages are tool_names, "
    ):
        stage_named("semantics")


@pytest.mark.parametrize("stage", all_stages(), ids=lambda stage: stage.name)
def test_what_a_stage_names_is_there(stage: Stage) -> None:
    assert hasattr(callwright.warehouse.records, stage.reads)
    assert stage.source
    assert stage.about.endswith((".", "?"))
    assert all((TOP / template).is_file() for template in stage.templates)
    assert bool(stage.role) == bool(stage.templates)


def test_each_stage_reads_what_the_one_before_it_makes() -> None:
    for group in dict.fromkeys(stage.group for stage in all_stages()):
        stages = stages_of(group)
        for before, after in pairwise(stages):
            made = (
                before.reads
                if before.yields in {"Verdict", "Review", "Acceptance", "PlantedReading"}
                else before.yields
            )
            assert after.reads == made


def test_the_page_about_the_stages_is_fresh() -> None:
    assert (TOP / "docs" / "stages.md").read_text(encoding="utf-8") == stage_page(), (
        "Run `make docs`."
    )


def test_checks_that_ask_no_model_come_before_those_that_do() -> None:
    checks = [stage for stage in stages_of("consistency") if stage.is_check]
    assert checks == sorted(checks, key=lambda stage: stage.role is not None)
    assert checks[0].role is None
    assert checks[-1].role is not None
