"""The wheel: one package with all its files, which goes beside whatever else is installed under our folders' names."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest
import uv

from tests.support.flows.small_builds import TOP, environment, write_recipe

NOT_INSTALLED = {".ci", "bench", "docs", "tests"}
BUILT_WITH = ("pyproject.toml", "setup.py", "README.md")
NAMES = ("llm", "validators", "callwright", "callwright.llm", "callwright.validators", "callwright.flows.cli")
IMPORTING = """
import json, sys
import llm, validators, callwright.llm, callwright.validators, callwright.flows.cli
assert callable(llm.get_model) and validators.email("somebody@example.org")
print(json.dumps({name: sys.modules[name].__file__ for name in sys.argv[1:]}))
"""


@pytest.fixture(scope="module")
def product_files() -> set[str]:
    """All files under version control that belong to the product, by their paths in the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True, check=True).stdout
    paths = [PurePosixPath(name) for name in listed.split("\0") if name and (TOP / name).exists()]
    return {str(path) for path in paths if len(path.parts) > 1 and path.parts[0] not in NOT_INSTALLED}


@pytest.fixture(scope="module")
def wheel(product_files: set[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of a copy: what a build leaves beside its sources would go into the next one."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in (*product_files, *BUILT_WITH):
        copy = folder / "sources" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, copy)
    _uv("build", "--wheel", "--quiet", "--out-dir", str(folder / "built"), str(folder / "sources"))
    [built] = (folder / "built").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the wheel, the locked dependencies and two strangers of our folders' names."""
    folder = tmp_path_factory.mktemp("fresh") / "env"
    _uv("venv", "--quiet", "--python", sys.executable, str(folder))
    constraints = ["--constraint", str(TOP / "requirements.lock")]
    _uv("pip", "install", "--quiet", "--python", str(folder), *constraints, str(wheel), "llm", "validators")
    return folder / "bin"


def _uv(*words: str) -> None:
    # Links instead of a gigabyte of copies; uv copies by itself where the cache is on another disk.
    surroundings = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    done = subprocess.run(
        [uv.find_uv_bin(), *words],
        env=surroundings | {"UV_LINK_MODE": "hardlink"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _run(*words: str | Path, home: Path) -> str:
    done = subprocess.run(words, env=environment(home), cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_that_is_installed_is_one_package_with_every_file_of_the_product(
    wheel: Path, product_files: set[str]
) -> None:
    about = f"callwright-{importlib.metadata.version('callwright')}.dist-info"
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    assert {PurePosixPath(name).parts[0] for name in names} == {"callwright", about}
    inside = {name for name in names if not name.startswith(f"{about}/")}
    assert inside == {name if name.startswith("callwright/") else f"callwright/{name}" for name in product_files}


def test_packages_of_our_folders_names_stay_whole_beside_ours(fresh: Path, tmp_path: Path) -> None:
    found = json.loads(_run(fresh / "python", "-c", IMPORTING, *NAMES, home=tmp_path))
    [installed] = (fresh.parent / "lib").glob("*/site-packages")
    places = {name: Path(file).relative_to(installed).as_posix() for name, file in found.items()}
    assert places == {name: f"{name.replace('.', '/')}/__init__.py" for name in NAMES}
    assert _run(fresh / "llm", "--version", home=tmp_path).startswith("llm, version ")


def test_the_installed_command_reads_recipes_and_builds_without_a_checkout(fresh: Path, tmp_path: Path) -> None:
    _run(fresh / "callwright", "recipe", "check", str(TOP / "recipes" / "demo.yaml"), home=tmp_path)
    recipe = write_recipe(tmp_path, samples={"perfect": 2, "irrelevant": 1})
    report = json.loads(_run(fresh / "callwright", "build", str(recipe), "--no-review", "--json", home=tmp_path))
    assert report["landed"] == 3


def test_prefect_finds_the_flows_of_an_installed_package(fresh: Path, tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; import callwright.flows\n"
        "from prefect.utilities.importtools import import_object\n"
        "above = Path(callwright.flows.__file__).parent.parent\n"
        "print(import_object(f'{above}/flows/engine/prefect_flows.py:build_dataset').name)"
    )
    assert _run(fresh / "python", "-c", code, home=tmp_path) == "build-dataset\n"
