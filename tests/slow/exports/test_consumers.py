"""Exports are read by those they are for, each in an environment of its own below `.cache`, without a network."""

from pathlib import Path

import pytest

from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.records import Call, CallTurn, GoldCall, ReplyTurn, ResultTurn, Sample, UserTurn
from callwright.warehouse.releases import GivenAnswer, ReleaseContent, ReleaseStream, SampleAnswers
from tests.support.warehouse.consuming import report_of
from tests.support.warehouse.exported import stream_of

pytestmark = pytest.mark.slow


@pytest.fixture
def split(content: ReleaseContent) -> ReleaseStream:
    """A release in three splits with a conversation of calls that were carried out, several at once among them."""
    name = content.tools[content.samples[1].candidates[1]].name
    rides = tuple(GoldCall(tool=name, arguments={"place": place}) for place in ("Voss", "Oslo"))
    turns = (
        UserTurn(text="Two rides."), ReplyTurn(text="Where to?"), UserTurn(text="Voss and Oslo."),
        CallTurn(calls=rides, executed=True), ResultTurn(results=("ordered", {"id": 7})), ReplyTurn(text="Both are ordered."),
    )  # fmt: skip
    travelled = content.samples[0].with_changes(kind="conversation", turns=turns)
    samples = (*content.samples, travelled)
    names = ("train", "train", "validation", "train", "test", "train")
    return stream_of(content._replace(samples=samples), names)


@pytest.mark.parametrize("version", ["old", "new"])
def test_datasets_loads_the_hub_folder_split_by_split(split: ReleaseStream, tmp_path: Path, version: str) -> None:
    export_release(split, "hf", tmp_path / "out", "---\npretty_name: v1\n---\n# v1")
    report = report_of(version, "read_datasets.py", tmp_path / "cache", tmp_path / "out")
    assert report["rows"] == {"train": 4, "validation": 1, "test": 1}
    if version == "new":
        assert report["croissant"] == report["rows"]


def test_chat_templates_of_trl_write_each_row_whole(split: ReleaseStream, tmp_path: Path) -> None:
    export = export_release(split, "trl", tmp_path / "out")
    report = report_of("trl", "apply_templates.py", tmp_path / "cache", tmp_path / "out", "qwen3", "qwen2_5_training")
    assert report == {"qwen3": export.rows, "qwen2_5_training": export.rows}


@pytest.mark.parametrize("trainer", ["sft", "dpo", "kto", "grpo"])
def test_each_trainer_of_trl_takes_a_step_on_answers(split: ReleaseStream, tmp_path: Path, trainer: str) -> None:
    def answers(sample: Sample) -> SampleAnswers:
        """At each call turn the gold, thought about, and a call of nothing."""
        due = [(at, turn.calls) for at, turn in enumerate(sample.turns) if isinstance(turn, CallTurn) and turn.calls]
        given = [
            GivenAnswer(at, "candidate", "me~native", is_right=is_right, calls=calls, reasoning="They want it.")
            for at, gold in due
            for is_right, calls in (
                (True, tuple(Call(tool=one.tool, arguments=one.arguments) for one in gold)),
                (False, (Call(tool=gold[0].tool),)),
            )
        ]
        return SampleAnswers(tuple(given), 0.5)

    form = "trl" if trainer == "sft" else f"trl-{trainer}"
    export = export_release(split._replace(answers=answers), form, tmp_path / "out")
    report = report_of("train", "train_step.py", tmp_path / "cache", trainer, tmp_path / "out", tmp_path / "work")
    assert report == {"rows": export.splits["train"], "steps": 1, "finite": True, "moved": True}


def test_llama_factory_teaches_all_that_the_assistant_says_and_calls(split: ReleaseStream, tmp_path: Path) -> None:
    export = export_release(split, "sharegpt", tmp_path / "out")
    templates = ("qwen3", "llama3", "mistral")
    report = report_of("llamafactory", "read_llamafactory.py", tmp_path / "cache", tmp_path / "out", *templates)
    assert report == dict.fromkeys(("rows", "read", *templates), export.rows)


@pytest.mark.parametrize("name", ["train", "test"])
def test_inspect_scores_a_mock_model_rightly(split: ReleaseStream, tmp_path: Path, name: str) -> None:
    export = export_release(split, "inspect", tmp_path / "out")
    report = report_of("inspect", "run_inspect.py", tmp_path / "cache", tmp_path / "out", name, 100)
    assert (report["status"], report["error"]) == ("success", "None")
    assert report["values"] == ["CI"[at % 2] for at in range(export.splits[name])]


def test_bfcl_decodes_and_accepts_all_gold_and_refuses_what_is_broken(split: ReleaseStream, tmp_path: Path) -> None:
    export_release(split, "bfcl", tmp_path / "out")
    report = report_of("bfcl", "check_bfcl.py", tmp_path / "cache", tmp_path / "out")
    asked = sum(number for what, number in report.items() if what.endswith("questions"))
    accepted = sum(number for what, number in report.items() if what.endswith("accepted"))
    assert (asked, accepted) == (6, 5), report
    assert report["broken refused"] == 3 * accepted
