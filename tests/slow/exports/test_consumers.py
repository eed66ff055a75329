"""Exports are read by those they are for, each in an environment of its own below `.cache`,
without a network.
"""

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    UserTurn,
)
from callwright.warehouse.releases import GivenAnswer, ReleaseContent, ReleaseStream, SampleAnswers
from tests.support.warehouse.consuming import CACHE, SCRIPTS, report_of
from tests.support.warehouse.exported import rows_in, stream_of

pytestmark = pytest.mark.slow


@pytest.fixture
def split(content: ReleaseContent) -> ReleaseStream:
    """A release in three splits with a conversation of calls that were carried out, several at
    once among them.
    """
    name = content.tools[content.samples[1].candidates[1]].name
    rides = tuple(GoldCall(tool=name, arguments={"place": place}) for place in ("Voss", "Oslo"))
    turns = (
        UserTurn(text="Two rides."),
        ReplyTurn(text="Where to?"),
        UserTurn(text="Voss and Oslo."),
        CallTurn(calls=rides, executed=True),
        ResultTurn(results=("ordered", {"id": 7})),
        ReplyTurn(text="Both are ordered."),
    )
    travelled = content.samples[0].with_changes(kind="conversation", turns=turns)
    samples = (*content.samples, travelled)
    names = ("train", "train", "validation", "train", "test", "train")
    return stream_of(content._replace(samples=samples), names)


@pytest.mark.parametrize("version", ["old", "new"])
def test_datasets_loads_the_hub_folder_split_by_split(
    split: ReleaseStream, tmp_path: Path, version: str
) -> None:
    export_release(split, "hf", tmp_path / "out", "---\npretty_name: v1\n---\n# v1")
    report = report_of(version, "read_datasets.py", tmp_path / "cache", tmp_path / "out")
    assert report["rows"] == {"train": 4, "validation": 1, "test": 1}
    if version == "new":
        assert report["croissant"] == report["rows"]


def test_chat_templates_of_trl_write_each_row_whole(split: ReleaseStream, tmp_path: Path) -> None:
    export = export_release(split, "trl", tmp_path / "out")
    report = report_of(
        "trl",
        "apply_templates.py",
        tmp_path / "cache",
        tmp_path / "out",
        "qwen3",
        "qwen2_5_training",
    )
    assert report == {"qwen3": export.rows, "qwen2_5_training": export.rows}


@pytest.mark.parametrize("trainer", ["sft", "dpo", "kto", "grpo"])
def test_each_trainer_of_trl_takes_a_step_on_answers(
    split: ReleaseStream, tmp_path: Path, trainer: str
) -> None:
    def answers(sample: Sample) -> SampleAnswers:
        """At each call turn the gold, thought about, and a call of nothing."""
        due = [
            (at, turn.calls)
            for at, turn in enumerate(sample.turns)
            if isinstance(turn, CallTurn) and turn.calls
        ]
        given = [
            GivenAnswer(
                at,
                "candidate",
                "me~native",
                is_right=is_right,
                calls=calls,
                reasoning="They want it.",
            )
            for at, gold in due
            for is_right, calls in (
                (True, tuple(Call(tool=one.tool, arguments=one.arguments) for one in gold)),
                (False, (Call(tool=gold[0].tool),)),
            )
        ]
        return SampleAnswers(tuple(given), 0.5)

    form = "trl" if trainer == "sft" else f"trl-{trainer}"
    export = export_release(split._replace(answers=answers), form, tmp_path / "out")
    report = report_of(
        "train", "train_step.py", tmp_path / "cache", trainer, tmp_path / "out", tmp_path / "work"
    )
    assert report == {"rows": export.splits["train"], "steps": 1, "finite": True, "moved": True}


def test_llama_factory_teaches_all_that_the_assistant_says_and_calls(
    split: ReleaseStream, tmp_path: Path
) -> None:
    export = export_release(split, "sharegpt", tmp_path / "out")
    templates = ("qwen3", "llama3", "mistral")
    report = report_of(
        "llamafactory", "read_llamafactory.py", tmp_path / "cache", tmp_path / "out", *templates
    )
    assert report == dict.fromkeys(("rows", "read", *templates), export.rows)


@pytest.mark.parametrize("name", ["train", "test"])
def test_inspect_scores_a_mock_model_rightly(
    split: ReleaseStream, tmp_path: Path, name: str
) -> None:
    export = export_release(split, "inspect", tmp_path / "out")
    report = report_of("inspect", "run_inspect.py", tmp_path / "cache", tmp_path / "out", name, 100)
    assert (report["status"], report["error"]) == ("success", "None")
    assert report["values"] == ["CI"[at % 2] for at in range(export.splits[name])]


def promptfoo_results(folder: Path, answers: dict[str, Any], work: Path) -> list[dict[str, Any]]:
    """What promptfoo finds with an agent that answers so, by what was said before; it is
    installed where it is not there.
    """
    home = CACHE / "promptfoo"
    with (CACHE / "promptfoo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "ready").exists():
            home.mkdir(parents=True, exist_ok=True)
            quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
            subprocess.run(
                ["npm", "install", *quiet, "--prefix", home, "promptfoo@0.121.20"], check=True
            )
            (home / "ready").touch()
    shutil.copy(SCRIPTS / "promptfoo_agent.mjs", folder / "agent.mjs")
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    off = {
        f"PROMPTFOO_DISABLE_{what}": "1" for what in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")
    }
    done = subprocess.run(
        [
            home / "node_modules" / ".bin" / "promptfoo",
            "eval",
            "--providers",
            "file://agent.mjs",
            "--no-cache",
            "--no-table",
            "--no-progress-bar",
            "-o",
            "result.json",
        ],
        env=dict(os.environ)
        | off
        | {"PROMPTFOO_CONFIG_DIR": str(work), "AGENT_ANSWERS": "answers.json"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (folder / "result.json").exists(), done.stdout[-2000:] + done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads((folder / "result.json").read_text())["results"][
        "results"
    ]
    return found


@pytest.mark.parametrize("way", ["right", "other arguments", "one more", "silent"])
def test_promptfoo_tells_right_trajectories_from_wrong_ones(
    split: ReleaseStream, tmp_path: Path, way: str
) -> None:
    folder = tmp_path / "out"
    export_release(
        split._replace(samples=[("", sample) for _, sample in split.samples]), "promptfoo", folder
    )
    answers, passes = {}, {}
    for row in rows_in(folder / "v1.jsonl"):
        due = [one["value"] for one in row["assert"] if one["type"] == "trajectory:tool-args-match"]
        said = "\n".join(one.get("content") or "" for one in json.loads(row["vars"]["messages"]))
        made = [{"name": one["name"], "args": one["args"]} for one in due]
        extra = {"name": "other", "args": {}}
        answers[said] = {
            "right": made,
            "other arguments": [one | {"args": {**one["args"], "more": 1}} for one in made],
            "one more": [*made, extra],
            "silent": [],
        }[way]
        passes[row["description"]] = {"right": True, "one more": False}.get(way, not due)
    found = promptfoo_results(folder, answers, tmp_path / "work")
    assert {one["testCase"]["description"]: one["success"] for one in found} == passes
    assert len(found) == len(answers) > 4


def test_bfcl_decodes_and_accepts_all_gold_and_refuses_what_is_broken(
    split: ReleaseStream, tmp_path: Path
) -> None:
    export_release(split, "bfcl", tmp_path / "out")
    report = report_of("bfcl", "check_bfcl.py", tmp_path / "cache", tmp_path / "out")
    asked = sum(number for what, number in report.items() if what.endswith("questions"))
    accepted = sum(number for what, number in report.items() if what.endswith("accepted"))
    assert (asked, accepted) == (6, 5), report
    assert report["broken refused"] == 3 * accepted
