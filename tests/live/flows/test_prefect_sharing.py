"""Builds that share a Prefect server: a model's limit holds for all of them, and what is kept
does not grow.
"""

from pathlib import Path

import pytest

from tests.support.flows.prefect_api import PrefectRecords
from tests.support.flows.small_builds import run, write_unmeasured_recipe

pytestmark = [pytest.mark.prefect, pytest.mark.enable_socket]


@pytest.mark.slow
def test_what_prefect_keeps_of_a_build_does_not_grow_with_its_records(
    known: PrefectRecords, shown: dict[str, str], tmp_path: Path
) -> None:
    sizes = []
    for name, count in (("few", 10), ("more", 100)):
        recipe = write_unmeasured_recipe(
            tmp_path, name=name, samples={"perfect": count}, shard_size=count
        )
        assert (
            run("build", str(recipe), "--no-review", home=tmp_path / name, **shown).returncode == 0
        )
        [build] = [found for found in known.runs("build-dataset") if found["name"] == name]
        groups = known.groups(build).values()
        tasks = [task for group in groups for task in known.tasks(group)]
        artifacts = [artifact for group in groups for artifact in known.artifacts(group)]
        sizes.append(
            (
                len(tasks) + len(artifacts),
                *(max(len(str(one)) for one in told) for told in (tasks, artifacts)),
            )
        )
    (few_told, *few_sizes), (more_told, *more_sizes) = sizes
    assert more_told <= few_told + 1  # a shard more, for they are cut by time
    assert all(more < 1.1 * few for few, more in zip(few_sizes, more_sizes, strict=True))
