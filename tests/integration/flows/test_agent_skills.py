"""The skills that ship: an agent that does what each says, command by command, comes to its end."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from callwright.flows.agents.skills import Skill, read_skills, write_skills
from tests.support.flows.scripted_agent import API
from tests.support.flows.small_builds import environment, run_here

SKILLS = {one.name: one for one in read_skills()}
DATASET, AUDIT, CHECK = "callwright-dataset", "callwright-audit", "callwright-check"
ROUTE = {
    "name": "get_route",
    "description": "Find a route.",
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "Where to."},
            "mode": {"type": "string", "enum": ["car", "train"]},
        },
        "required": ["to"],
    },
}


def row(request: str, **arguments: Any) -> str:
    function = {"name": "get_route", "arguments": json.dumps(arguments)}
    calls = [{"id": "c", "type": "function", "function": function}]
    messages = [
        {"role": "user", "content": request},
        {"role": "assistant", "content": None, "tool_calls": calls},
    ]
    return json.dumps({"messages": messages, "tools": [{"type": "function", "function": ROUTE}]})


def blocks(text: str) -> list[tuple[str, str, str]]:
    """The blocks of a page in order: language, the file that it is, and what it says."""
    return re.findall(r'```(\w+)(?: title="([^"]+)")?\n(.*?)```', text, re.DOTALL)


class Agent:
    """Does what a skill says, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed: dict[str, str] = {}

    def does(self, skill: Skill) -> None:
        for language, name, text in blocks(skill.text):
            if name:
                (self.folder / name).write_text(self.filled(text), encoding="utf-8")
            elif language == "sh":
                for command in text.splitlines():
                    self.runs(command)

    def runs(self, command: str) -> None:
        words = shlex.split(command)
        own = environment(self.folder / "home", PATH=os.environ["PATH"])
        program = [sys.executable, "-m", *words[words[0] == "python" and 2 :]]
        done = subprocess.run(
            program, cwd=self.folder, env=own, capture_output=True, text=True, check=False
        )
        has_findings = words[:3] == ["callwright", "audit", "data"]
        assert done.returncode == int(has_findings), f"{command}\n{done.stdout}{done.stderr}"
        self.printed[command] = done.stdout

    def filled(self, text: str) -> str:
        """The text of a file, with the key of a finding that was listed before."""
        listed = next((told for one, told in self.printed.items() if "--json" in one), "")
        return text.replace("KEY", json.loads(listed)[0]["key"]) if listed else text


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def test_an_agent_makes_a_data_set_of_an_api(agent: Agent) -> None:
    api = yaml.safe_load(API.read_text(encoding="utf-8"))
    api["paths"] = dict(list(api["paths"].items())[:3])
    (agent.folder / "api.yaml").write_text(yaml.safe_dump(api), encoding="utf-8")
    agent.does(SKILLS[DATASET])
    rows = (agent.folder / "exports" / "v1-openai" / "train.jsonl").read_text(encoding="utf-8")
    assert len(rows.splitlines()) > 5
    assert "landed" in agent.printed["callwright tools check api.yaml"]


def test_an_agent_audits_a_file_and_writes_corrected_rows(agent: Agent) -> None:
    right, wrong = row("A route to Ulm.", to="Ulm"), row("To Ulm by rail.", to="Ulm", mode="rail")
    (agent.folder / "data.jsonl").write_text(f"{right}\n{wrong}\n", encoding="utf-8")
    agent.does(SKILLS[AUDIT])
    assert "1 confirmed" in agent.printed["callwright audit judge first judgements.jsonl"]
    assert (agent.folder / "patch.jsonl").is_file()
    assert (agent.folder / "findings.html").is_file()


def test_an_agent_writes_a_check_and_builds_with_it(agent: Agent) -> None:
    agent.does(SKILLS[CHECK])
    [decisions] = [
        told for one, told in agent.printed.items() if "as n" in one and "decision," in one
    ]
    assert "unproved" in decisions


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_has_the_form_of_agent_skills(name: str, tmp_path: Path) -> None:
    [path] = [one for one in write_skills(tmp_path) if one.parent.name == name]
    assert path.name == "SKILL.md"
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    told = yaml.safe_load(head)
    assert told["name"] == name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert 100 < len(told["description"]) <= 1024
    assert len(told["compatibility"]) <= 500
    assert told.keys() <= {"name", "description", "compatibility"}
    assert len(body.splitlines()) < 500


def test_every_command_and_option_that_a_skill_names_is_there(tmp_path: Path) -> None:
    named = {
        one for skill in SKILLS.values() for one in re.findall(r"`callwright ([^`]+)`", skill.text)
    }
    assert named
    for command in named:
        words = shlex.split(command)
        options = {one for one in words if one.startswith("--")}
        verbs = words[: 2 if words[0] in {"tools", "recipe", "audit", "review", "release"} else 1]
        shown = run_here(*verbs, "--help", home=tmp_path)
        assert shown.returncode == 0, command
        assert all(one in shown.stdout for one in options), command


def test_skills_are_listed_and_written_by_a_command(tmp_path: Path) -> None:
    assert all(name in run_here("skills", home=tmp_path).stdout for name in SKILLS)
    for _ in range(2):
        written = run_here("skills", "--to", str(tmp_path / "own"), home=tmp_path)
        assert written.returncode == 0
        assert len(written.stdout.splitlines()) == len(SKILLS)
