import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.generators.imports.papers import read_hammerbench
from callwright.generators.imports.reading import ImportedRecord
from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.papers import FILES, hammerbench_file, hammerbench_record
from callwright.warehouse.records import CallTurn, GoldCall, ResultTurn, Sample, Tool, UserTurn
from tests.support.warehouse.exported import exported as exported_files
from tests.support.warehouse.exported import release_of

RECORD_FILES = [f"{language}/{file.path}" for language in ("en", "zh") for file in FILES.values()]
DIM: dict[str, Any] = {
    "name": "Home.Lights.dim",
    "description": "Dims a light.",
    "parameters": {
        "type": "object",
        "properties": {"level": {"type": "float"}},
        "required": ["level"],
    },
}
JSON = st.recursive(
    st.none()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["user", "assistant", "function call"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["role", "content", "name", "arguments", "id"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


def record(*messages: tuple[str, Any], **changes: Any) -> dict[str, Any]:
    said = [{"role": role, "content": content} for role, content in messages]
    return {"messages": said, "multiple_tools": [DIM], **changes}


def label(**arguments: Any) -> tuple[str, Any]:
    return "function call", {"name": "Home.Lights.dim", "arguments": arguments}


def read(tmp_path: Path, name: str, *records: Any) -> list[ImportedRecord]:
    path = tmp_path / name
    path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    return list(read_hammerbench(path))


def sample_of(tmp_path: Path, name: str, made: Any) -> Sample:
    (found,) = read(tmp_path, name, made)
    assert found.sample is not None, found.problems
    return found.sample


def exported(records: list[ImportedRecord]) -> list[dict[str, Any]]:
    tools = {tool.key: tool for found in records for tool in found.tools}
    return written([found.sample for found in records if found.sample], tools)


def written(samples: list[Sample], tools: dict[str, Tool]) -> list[dict[str, Any]]:
    return [
        row
        for rows in exported_files(release_of(samples, tools), "hammerbench").values()
        for row in rows
    ]


@pytest.fixture(scope="module")
def published(shared: Path) -> dict[str, list[ImportedRecord]]:
    """The records of each published file, by its path below the folder."""
    folder = shared / "data" / "hammerbench" / "sample100"
    files: dict[str, list[ImportedRecord]] = defaultdict(list)
    for found in read_hammerbench(folder):
        files[Path(found.where.partition("#")[0]).relative_to(folder).as_posix()].append(found)
    return files


@pytest.mark.parametrize("file", RECORD_FILES)
def test_the_published_records_come_back_as_they_were(
    file: str, published: dict[str, list[ImportedRecord]], shared: Path
) -> None:
    path = shared / "data" / "hammerbench" / "sample100" / file
    records = published[file]
    assert {hammerbench_file(found.sample) for found in records if found.sample} == {file}
    assert {problem.kind for found in records for problem in found.problems} <= {
        "renamed_type",
        "doubted_rule",
        "prose_rule",
    }
    assert json.dumps(exported(records)) == json.dumps(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_newest_published_form_comes_back_too(language: str, shared: Path) -> None:
    path = shared / "data" / "hammerbench" / "head_examples" / language / "examples.json"
    records = list(read_hammerbench(path))
    assert [found.sample.kind for found in records if found.sample] == ["sQsA"]
    assert json.dumps(exported(records)) == json.dumps(json.loads(path.read_text(encoding="utf-8")))


def test_a_folder_gives_every_record_and_says_which_files_hold_none(
    published: dict[str, list[ImportedRecord]],
) -> None:
    records = [found for file in published.values() for found in file]
    samples = [found.sample for found in records if found.sample]
    assert Counter((sample.language, sample.kind) for sample in samples) == {
        (language, kind): 100 for language in ("en", "zh") for kind in FILES
    }
    assert len({sample.key for sample in samples}) == 3000
    others = [
        file for file, found in published.items() if found[0].problems and not found[0].sample
    ]
    assert len(others) == len(records) - len(samples) == 6
    assert all("snapshot_id" in file for file in others)


def test_the_gold_of_a_published_request_is_its_label(
    published: dict[str, list[ImportedRecord]], shared: Path
) -> None:
    file = "en/multi-turn/HammerBench_Based.json"
    stated = json.loads(
        (shared / "data" / "hammerbench" / "sample100" / file).read_text(encoding="utf-8")
    )
    for found, raw in zip(published[file], stated, strict=True):
        assert found.sample is not None
        labels = [
            message["content"] for message in raw["messages"] if message["role"] == "function call"
        ]
        snapshots = list(found.sample.snapshots())
        assert [snapshot.calls[0].arguments for snapshot in snapshots] == [
            label["arguments"] for label in labels
        ]
        assert all(call.tool in {tool.name for tool in found.tools} for call in found.sample.gold)


def test_a_kind_is_told_by_the_record_s_id_where_the_file_does_not(tmp_path: Path) -> None:
    made = record(("user", "Dim it."), label(), id="mQmA_4_0")
    assert sample_of(tmp_path, "examples.json", made).kind == "mQmA"
    assert [one.item for one in read(tmp_path, "examples.json", made)] == ["mQmA_4_0"]
    (found,) = read(tmp_path, "examples.json", record(("user", "Dim it."), label(), id=4))
    assert found.sample is None
    assert "ST_Perfect" in found.problems[0].message


def test_the_language_is_told_by_the_folder_or_else_by_the_request(tmp_path: Path) -> None:
    (tmp_path / "zh").mkdir()
    assert (
        sample_of(tmp_path, "zh/ST_Perfect.json", record(("user", "Dim it."), label())).language
        == "zh"
    )
    assert (
        sample_of(tmp_path, "ST_Perfect.json", record(("user", "把灯调暗"), label())).language
        == "zh"
    )


@pytest.mark.parametrize(
    "bad",
    [
        5,
        {},
        record(),
        record(("user", "Dim it.")),
        record(("user", "Dim it."), ("user", "Now."), label()),
        record(("user", 7), label()),
        record(("robot", "Beep."), label()),
        record(("user", "Dim it."), ("function call", "dim()")),
        record(("user", "Dim it."), ("function call", {"name": "", "arguments": {}})),
        record(("user", "Dim it."), ("function call", {"name": "a", "arguments": []})),
        record(("user", "Dim it."), ("function call", {"name": "a", "arguments": {}, "why": 1})),
        record(("user", "Dim it."), label(), multiple_tools=None),
        record(("user", "Dim it."), label(), multiple_tools=[DIM, {"name": "x", "parameters": 3}]),
        record(("user", "Dim it."), label(), multiple_tools=["dim"]),
    ],
)
def test_a_bad_record_is_a_problem_with_its_place_and_the_others_are_read(
    bad: Any, tmp_path: Path
) -> None:
    good = record(("user", "Dim it."), label())
    first, second, third = read(tmp_path, "ST_Perfect.json", good, bad, good)
    assert first.sample is not None
    assert third.sample == first.sample
    assert second.sample is None
    assert any(problem.kind == "bad_record" for problem in second.problems)
    assert all("#/1" in problem.where for problem in second.problems)


def test_what_a_sample_cannot_keep_is_reported(tmp_path: Path) -> None:
    made = record(("user", "Dim it."), label(), single_tool=[], note="x")
    (found,) = read(tmp_path, "HammerBench_Based.json", made)
    assert found.sample is not None
    assert [problem.kind for problem in found.problems].count("unknown_field") == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    value=st.lists(
        JSON | st.fixed_dictionaries({"messages": JSON, "multiple_tools": JSON}), max_size=3
    )
)
def test_any_json_value_is_read_or_explained(tmp_path: Path, value: Any) -> None:
    for found in read(tmp_path, "HammerBench_mSv.json", *value):
        assert found.sample is not None or found.problems


def own_sample(**changes: Any) -> tuple[Sample, dict[str, Tool]]:
    tool = Tool(
        name="dim",
        description="Dims.",
        parameters={"type": "object", "properties": {}},
        category="home",
    )
    sample = Sample(
        kind="perfect",
        language="en",
        category="home",
        candidates=(tool.key,),
        turns=(UserTurn(text="Dim it."), CallTurn(calls=(GoldCall(tool="dim"),))),
    )
    return sample.with_changes(**changes), {tool.key: tool}


def test_our_own_samples_are_written_in_the_published_shapes() -> None:
    sample, tools = own_sample()
    assert list(hammerbench_record(sample, tools)) == ["messages", "multiple_tools"]
    conversation, _ = own_sample(kind="mQsA")
    records = written([conversation, conversation, sample], tools)
    assert [found.get("id") for found in records] == [0, 1, None]
    assert records[0]["single_tool"] == records[0]["multiple_tools"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": "routing"}, "no file for this kind"),
        ({"candidates": ("nothing",)}, "is no tool that was given"),
        (
            {"turns": (UserTurn(text="a"), CallTurn(calls=(GoldCall(tool="dim"),) * 2))},
            "one call a snapshot",
        ),
        ({"turns": (UserTurn(text="a"), ResultTurn(results=(1,)))}, "no results"),
    ],
)
def test_what_the_format_cannot_hold_is_refused_with_a_reason(
    changes: dict[str, Any], reason: str
) -> None:
    sample, tools = own_sample(**changes)
    with pytest.raises(RecordError, match=reason):
        hammerbench_record(sample, tools)
