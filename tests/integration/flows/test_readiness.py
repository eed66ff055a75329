"""A model that can't be asked is found out before the first request: one sentence, in a second."""

import json
from pathlib import Path

import pytest

from callwright.llm.models import check_key, key_variables, read_model
from callwright.warehouse.errors import ConfigurationError, TransientError
from tests.support.flows.model_server import ModelServer
from tests.support.flows.small_builds import build as build_here
from tests.support.flows.small_builds import (
    run_here,
    settings_of,
    stub_roles,
    unmeasured_recipe,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.llm.names import PLAIN

FEW = {"perfect": 2}


@pytest.mark.parametrize(
    ("name", "options", "variables"),
    [
        (PLAIN, {}, ("OPENAI_API_KEY",)),
        (PLAIN, {"api_base": "https://api.openai.com/v1"}, ("OPENAI_API_KEY",)),
        (PLAIN, {"api_base": "http://10.0.0.9/v1"}, ()),
        (
            "hosted_vllm/q",
            {"api_base": "http://10.0.0.9/v1", "api_key_variable": "MINE"},
            ("MINE",),
        ),
        ("anthropic/claude-x", {}, ("ANTHROPIC_API_KEY",)),
        ("bedrock/x", {}, ()),
        ("template/v1", {}, ()),
    ],
)
def test_a_missing_key_is_known_without_a_call(
    name: str, options: dict[str, object], variables: tuple[str, ...]
) -> None:
    settings = read_model(name, options)
    assert key_variables(settings) == variables
    check_key(settings, lambda variable: "sk-1")
    if variables:
        with pytest.raises(
            ConfigurationError,
            match=f"no API key for {name}. Set the environment variable {variables[0]}",
        ):
            check_key(settings, lambda variable: "")


def test_a_missing_key_ends_a_build_in_one_line(tmp_path: Path) -> None:
    recipe = write_unmeasured_recipe(tmp_path, samples=FEW, models={"judge": PLAIN})
    ended = run_here("build", str(recipe), "--no-review", home=tmp_path / "home")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert (
        f"There is no API key for {PLAIN}. Set the environment variable OPENAI_API_KEY"
        in ended.stderr
    )


def test_a_server_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    away = {"name": "openai/stub", "api_base": "http://127.0.0.1:9/v1"}
    with pytest.raises(
        TransientError,
        match=r"The server of openai/stub at http://127.0.0.1:9/v1/models can't be reached",
    ) as told:
        build_here(
            unmeasured_recipe(samples=FEW, models={"judge": away, "generator": away}),
            settings_of(tmp_path),
        )
    assert "It was asked" not in str(told.value), "there is no second try"


def test_what_the_ledger_knows_needs_no_server(model_server: ModelServer, tmp_path: Path) -> None:
    settings, recipe = (
        settings_of(tmp_path),
        unmeasured_recipe(samples=FEW, models=stub_roles(model_server)),
    )
    build_here(recipe, settings)
    asked = model_server.requests
    warehouse_of(settings).execute("update builds set finished_at = null")
    build_here(recipe, settings)
    assert model_server.requests == asked


def test_doctor_tells_keys_and_the_models_of_a_recipe(
    model_server: ModelServer, tmp_path: Path
) -> None:
    ended = run_here("doctor", "--json", home=tmp_path / "home", OPENAI_API_KEY="sk-secret")
    [keys] = [one for one in json.loads(ended.stdout) if one["part"] == "model keys"]
    assert (keys["state"], keys["advice"]) == ("ready", "OPENAI_API_KEY")
    models = stub_roles(model_server) | {"judge": PLAIN}
    recipe = write_unmeasured_recipe(tmp_path, samples=FEW, models=models)
    ended = run_here("doctor", str(recipe), "--json", home=tmp_path / "home")
    found = {one["part"]: one for one in json.loads(ended.stdout)}
    assert ended.returncode == 1
    assert found[f"model {PLAIN}"]["state"] == "broken"
    assert "price: {input" in found["model openai/stub"]["advice"]
    assert "litellm does not know this model" in found["model openai/stub"]["advice"]
    assert "sk-secret" not in ended.stdout
