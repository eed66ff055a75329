"""What is missing is said before anybody is asked, and a command that achieves nothing says so."""

import shutil
from pathlib import Path

import pytest

from callwright.flows.cli.main import COULD_NOT
from callwright.warehouse.releases import create_release
from tests.support.flows.model_server import ModelServer
from tests.support.flows.small_builds import (
    build,
    one,
    run_here,
    settings_of,
    small_recipe,
    stub_settings,
    warehouse_of,
    write_recipe,
)
from tests.support.llm.names import PLAIN

AWAY = "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with a release v1."""
    settings = settings_of(tmp_path_factory.mktemp("frozen"))
    build(small_recipe(samples={"perfect": 4, "irrelevant": 2}), settings)
    create_release(warehouse_of(settings), "v1")
    return settings.home


@pytest.fixture
def home(frozen: Path, tmp_path: Path) -> Path:
    """A copy of it, the test's own."""
    return Path(shutil.copytree(frozen, tmp_path / "home"))


@pytest.mark.parametrize("words", [("evaluate", "v1"), ("audit", "readers")])
def test_the_key_of_a_later_model_is_missed_before_the_first_one_is_asked(
    home: Path, words: tuple[str, str]
) -> None:
    ended = run_here(*words, "--model", "template/v1", "--model", PLAIN, home=home)
    assert ended.returncode == 2
    assert (
        f"There is no API key for {PLAIN}. Set the environment variable OPENAI_API_KEY"
        in ended.stderr
    )
    assert words[0] == "evaluate" or "template/v1" not in ended.stderr
    assert one(settings_of(home), "select count(*) from predictions") == 0


def test_a_server_of_a_later_candidate_is_missed_before_the_first_one_is_asked(
    model_server: ModelServer, home: Path, tmp_path: Path
) -> None:
    there = {"label": "there", "model": stub_settings(model_server)}
    away = {"label": "away", "model": stub_settings(model_server, api_base=AWAY)}
    recipe = write_recipe(tmp_path, candidates=[there, away])
    ended = run_here("evaluate", "v1", "--recipe", str(recipe), home=home)
    assert ended.returncode == COULD_NOT
    assert f"at {AWAY}/models can't be reached" in ended.stderr
    assert model_server.requests == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--fail-under", "arg_acc=0.9"),
            "There is no metric 'arg_acc'. Did you mean one of args_acc",
        ),
        (("--fail-over", "nonsense=0.9"), "There is no metric 'nonsense'"),
        (("--strategy", "nativ"), "nativ"),
        (("--against", "nobody"), "No candidate 'nobody' has answered"),
    ],
)
def test_a_wrong_name_is_said_before_anybody_is_asked(
    home: Path, words: tuple[str, str], said: str
) -> None:
    ended = run_here("evaluate", "v1", "--model", "template/v1", *words, home=home)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert one(settings_of(home), "select count(*) from predictions") == 0
