"""The command line as its users meet it: help, JSON, exit codes, one clear sentence for each
mistake.
"""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import httpx
import pytest
import typer

from callwright.flows.cli.main import app
from tests.support.flows.small_builds import run, run_here, start, write_unmeasured_recipe


def commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = list(commands(typer.main.get_command(app)))  # type: ignore[arg-type]


def asked(*words: str, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return run_here(*words, home=home, COLUMNS="200", **more)


@pytest.mark.parametrize(
    ("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS]
)
def test_every_command_has_help_an_example_and_json(
    path: tuple[str, ...], command: click.Command
) -> None:
    assert command.help
    assert (command.epilog or "").startswith(f"Example: callwright {' '.join(path)}")
    assert "--json" in {option for parameter in command.params for option in parameter.opts}
    assert all(
        getattr(parameter, "help", None) for parameter in command.params if parameter.name != "help"
    )


def test_the_commands_of_the_contract_are_there() -> None:
    names = {path[0] for path, _ in COMMANDS}
    assert names >= {
        "init",
        "build",
        "stages",
        "doctor",
        "tools",
        "review",
        "release",
        "evaluate",
        "export",
        "query",
        "publish",
        "report",
        "view",
        "deploy",
        "check",
    }


def test_a_shell_completes_commands(tmp_path: Path) -> None:
    words = {
        "_CALLWRIGHT_COMPLETE": "complete_bash",
        "COMP_WORDS": "callwright rel",
        "COMP_CWORD": "1",
    }
    done = run_here(home=tmp_path, **words)
    assert done.stdout.split() == ["release"]


@pytest.mark.parametrize(
    "words", [("build", "recipes/demo.yaml"), ("query", "select 1"), ("tools", "list"), ("doctor",)]
)
def test_a_work_folder_that_cant_be_made_is_one_sentence(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "file").write_text("x")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        done = asked(*words, home=home)
        assert done.stderr.startswith(
            f"callwright: The work folder '{home}' can't be created: '{tmp_path / 'file'}' is not a"
            " folder."
        )
        assert (done.returncode, done.stdout) == (1, "")


def test_help_goes_to_stdout_and_ends_well(tmp_path: Path) -> None:
    done = run("--help", home=tmp_path)
    assert done.returncode == 0
    assert "build" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dance",), "No such command 'dance'"),
        (("build",), "Missing argument 'recipe'"),
        (("build", "absent.yaml"), "absent.yaml: can't be read: No such file"),
        (("build", "recipes/demo.yaml", "--model", "gpt"), "no model 'gpt'"),
        (("tools", "import", "excel", "x"), "no catalog format 'excel'; the formats are"),
        (("tools", "import", "openapi", "absent.json"), "absent.json"),
        (("release", "create", "v1"), "There are no accepted samples"),
        (("export", "v1", "--to", "openai"), "No release is named 'v1'"),
        (("evaluate", "v1"), "There is no candidate"),
        (("evaluate", "v1", "--model", "template/v1"), "No release is named 'v1'"),
        (("query", "selec"), "can't be run"),
        (("deploy", "recipes/demo.yaml"), "No Prefect server is set"),
        (("review", "push"), "No Label Studio is set or running"),
    ],
)
def test_what_was_asked_wrongly_is_answered_with_one_sentence_and_exit_code_2(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = asked(*words, home=tmp_path)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (2, "")


def test_a_dead_label_studio_is_named_and_ends_with_exit_code_1(tmp_path: Path) -> None:
    address = "http://127.0.0.1:9"
    done = asked(
        "review", "push", home=tmp_path, LABEL_STUDIO_URL=address, LABEL_STUDIO_API_KEY="0" * 40
    )
    assert done.returncode == 1
    assert address in done.stderr
    assert "Traceback" not in done.stderr


def test_a_build_needs_no_locale_of_utf_8(tmp_path: Path) -> None:
    recipe = write_unmeasured_recipe(tmp_path, samples={"perfect": 2})
    done = run("build", str(recipe), "--no-review", "--json", home=tmp_path / "home", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["landed"] == 2


@pytest.mark.parametrize(
    "words",
    [
        ("stages",),
        ("doctor",),
        ("release", "list"),
        ("tools", "list"),
        ("query", "select 1 as one"),
    ],
)
def test_json_is_json(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = asked(*words, "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), list)


def test_a_server_that_is_stopped_says_so_and_promises_nothing(tmp_path: Path) -> None:
    """Nothing goes on from anywhere: what is shown is not work."""
    process = start("view", "--port", "0", home=tmp_path / "home")
    assert process.stdout is not None
    assert httpx.get(process.stdout.readline().strip(), timeout=60).status_code == 200
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.splitlines()[-1] == "Server stopped."
