"""Samples that others made as a release: evaluated like any other, and immutable like any other."""

from pathlib import Path

import pytest

from callwright.flows.sources import import_release
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.releases import read_release
from tests.support.flows.small_builds import settings_of, warehouse_of
from tests.unit.generators.test_callnavi_samples import NESTED, write


def test_samples_of_others_become_a_release(tmp_path: Path) -> None:
    warehouse = warehouse_of(settings_of(tmp_path))
    folder = tmp_path / "data"
    folder.mkdir()
    imported = import_release(warehouse, "published", "callnavi", write(folder, NESTED, 3))
    assert (imported.release.samples, imported.left_out) == (1, 1)
    assert {problem.where[-2:] for problem in imported.problems} == {"/1"}
    content = read_release(warehouse, "published")
    assert [sample.kind for sample in content.samples] == ["routing_hard"]
    assert sorted(tool.name for tool in content.tools.values()) == ["bookSauna", "findGuest"]
    again = import_release(warehouse, "published", "callnavi", folder)
    assert again.release == imported.release


def test_a_record_that_is_too_large_for_the_warehouse_is_left_out_with_its_reason(
    tmp_path: Path,
) -> None:
    warehouse = warehouse_of(settings_of(tmp_path))
    folder = tmp_path / "data"
    folder.mkdir()
    large = {**NESTED, "id": "spa002", "question": [{"role": "user", "content": "x" * 20_000_000}]}
    imported = import_release(warehouse, "published", "callnavi", write(folder, large, NESTED))
    assert (imported.release.samples, imported.left_out) == (1, 1)
    [problem] = [one for one in imported.problems if "MiB" in one.message]
    assert "longer than 16 MiB" in problem.message
    assert import_release(warehouse, "published", "callnavi", folder).left_out == 1


def test_what_can_not_be_read_is_answered(tmp_path: Path) -> None:
    warehouse = warehouse_of(settings_of(tmp_path))
    with pytest.raises(ConfigurationError, match="callnavi, claude-code, codex, complexfuncbench"):
        import_release(warehouse, "v1", "csv", tmp_path)
    write(tmp_path, 3)
    with pytest.raises(ConfigurationError, match="holds no sample"):
        import_release(warehouse, "v1", "callnavi", tmp_path)
