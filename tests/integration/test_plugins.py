"""Packages of others, really installed: what they bring is used as ours is; what can't be used
is named and passed over.
"""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.environments import environment_beside_ours
from tests.support.flows.small_builds import BETWEEN, TOP, environment, one_start

PACKAGES = TOP / "tests" / "support"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that sees all that this one has, and two packages more."""
    folder = tmp_path_factory.mktemp("plugins")
    copies = [folder / name for name in ("plugin_package", "broken_package")]
    for copy in copies:  # what a build leaves beside its sources has no place in the repository
        copy.mkdir()
        for file in (PACKAGES / copy.name).iterdir():
            if file.is_file():
                (copy / file.name).write_bytes(file.read_bytes())
    return environment_beside_ours(folder / "env", *map(str, copies)) / "python"


def done(*words: str, home: Path, code: int = 0) -> str:
    ended = subprocess.run(
        words, env=environment(home), cwd=home, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr + ended.stdout
    return ended.stdout


def test_doctor_lists_what_packages_bring_and_says_what_is_wrong(
    python: Path, tmp_path: Path
) -> None:
    found = json.loads(
        done(str(python), "-m", "callwright", "doctor", "--json", home=tmp_path, code=1)
    )
    said = {part["part"]: part for part in found if part["part"].partition(":")[0] in TABLES}
    sound = {name for name, part in said.items() if part["advice"] == "from town-plugins 0.3"}
    assert sound == {*(f"{table}: town" for table in TABLES - {"metrics"}), "metrics: brevity"}
    broken = {name: part["advice"] for name, part in said.items() if part["state"] == "broken"}
    assert {name for name, _ in broken.items()} == {
        "exports: gone",
        "exports: openai",
        "kinds: unfinished",
        "models: absent",
    }
    assert "of the package broken-plugins 0.1 can't be used" in broken["exports: gone"]
    assert "there is no 'GONE' in the module 'broken_plugins'" in broken["exports: gone"]
    assert "callwright itself has one of this name" in broken["exports: openai"]
    assert (
        "by the group 'unfinished', of which the family has no stages"
        in broken["kinds: unfinished"]
    )
    assert "there is no module 'absent_plugins'" in broken["models: absent"]


TABLES = {"checks", "kinds", "exports", "catalogs", "environments", "models", "metrics"}


def test_a_packages_kind_is_built_released_and_exported_in_its_format_and_its_importer_reads(
    python: Path, tmp_path: Path
) -> None:
    recipe = {
        "name": "town",
        "samples": {"perfect": 3, "town": 2},
        "languages": ["en"],
        "tools": [{"seed": ["Weather", "Trains"]}, {"environment": "town"}],
    }
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    verdicts = "select decision, count(*) as n from verdicts where check_name = 'town' group by all"
    scores = (
        "select value, count from scores where metric = 'brevity' and slice_by = 'kind' and"
        " slice_value = 'town'"
    )
    commands = [
        ["recipe", "check", "recipe.yaml"],
        ["build", "recipe.yaml", "--no-review", "--json"],
        ["query", verdicts, "--json"],
        ["release", "create", "v1"],
        ["export", "v1", "--to", "town", "--out", "out"],
        ["evaluate", "v1", "--model", "template/v1"],
        ["query", scores, "--json"],
        ["tools", "import", "town", "town.txt"],
        [
            "query",
            "select count(*) as n from tools where name in ('ring_bell', 'sweep_street')",
            "--json",
        ],
    ]
    (tmp_path / "town.txt").write_text("ring_bell sweep_street")
    *printed, _, imported = done(*one_start(python, *commands), home=tmp_path).split(BETWEEN)
    assert json.loads(imported) == [{"n": 2}]
    assert json.loads(printed[1])["landed"] == 5
    assert json.loads(printed[2]) == [{"decision": "proved", "n": 5}]
    rows = [json.loads(line) for line in (tmp_path / "out" / "town.jsonl").read_text().splitlines()]
    assert sorted(row["kind"] for row in rows) == ["perfect"] * 3 + ["town"] * 2
    assert all(
        row["request"].endswith("Great, thank you!") for row in rows if row["kind"] == "town"
    )
    [score] = json.loads(printed[-1])
    assert 0 < score["value"] < 1
    assert score["count"] == 2


def test_what_is_wrong_with_a_row_is_the_answer_to_whoever_names_it(
    python: Path, tmp_path: Path
) -> None:
    words = (str(python), "-m", "callwright", "export", "v1", "--to", "gone")
    ended = subprocess.run(
        words, env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert (
        "The export format 'gone' of the package broken-plugins 0.1 can't be used" in ended.stderr
    )
