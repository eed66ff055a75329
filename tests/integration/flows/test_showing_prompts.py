"""Each prompt of a build can be read whole before anything is asked; docs/prompts.md is what the
command says.
"""

import json
from pathlib import Path

from tests.support.flows.model_server import ModelServer
from tests.support.flows.small_builds import TOP, run_here, stub_roles, write_unmeasured_recipe


def test_the_page_of_prompts_is_what_the_command_shows(tmp_path: Path) -> None:
    ended = run_here("recipe", "prompts", str(TOP / "docs" / "prompts.yaml"), home=tmp_path)
    assert ended.returncode == 0, ended.stderr
    shown = ended.stdout.replace(str(TOP / "docs" / "prompts.yaml"), "docs/prompts.yaml")
    assert shown == (TOP / "docs" / "prompts.md").read_text(encoding="utf-8"), "Run `make docs`."
    assert "<seed>" not in shown
    assert shown.count("\n<circumstances>") >= 5


def test_one_prompt_is_shown_by_its_name_and_nobody_is_asked(
    model_server: ModelServer, tmp_path: Path
) -> None:
    recipe = str(
        write_unmeasured_recipe(tmp_path, models=stub_roles(model_server), samples={"perfect": 2})
    )
    ended = run_here("recipe", "prompts", recipe, "--only", "word_request", "--json", home=tmp_path)
    [prompt] = json.loads(ended.stdout)
    assert (prompt["name"], prompt["stage"]) == ("word_request", "requests")
    assert [one["role"] for one in prompt["messages"]] == ["system", "user", "assistant", "user"]
    assert prompt["answer"]["title"] == "SlottedRequest"
    assert model_server.requests == 0
    other = run_here("recipe", "prompts", recipe, "--only", "word", home=tmp_path)
    assert other.returncode == 2
    assert (
        "does not use a prompt named 'word'. It uses judge_natural, word_request, write_calls"
        in other.stderr
    )
