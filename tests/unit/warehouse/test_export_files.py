"""Exports on disk: which files there are, and that HammerBench's come back as what they were."""

from pathlib import Path

import duckdb
import orjson
import pytest

from generators.imports.hammerbench import read_hammerbench
from warehouse.errors import ConfigurationError, RecordError
from warehouse.exports.formats import EXPORTS, export_release
from warehouse.records import CallTurn, ResultTurn, Sample
from warehouse.releases import ReleaseContent


def calls(sample: Sample) -> list[list[tuple[str, dict[str, object]]]]:
    return [[(call.tool, call.arguments) for call in turn.calls] for turn in sample.turns if isinstance(turn, CallTurn)]


def test_an_unknown_format_is_answered_with_the_known_ones(content: ReleaseContent, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match="bfcl, callnavi, complexfuncbench, confetti, hammerbench, openai, parquet"
    ):
        export_release(content, "csv", tmp_path)


@pytest.mark.parametrize("to", sorted(set(EXPORTS) - {"complexfuncbench", "confetti"}))
def test_the_files_named_are_the_files_written(content: ReleaseContent, tmp_path: Path, to: str) -> None:
    written = export_release(content, to, tmp_path)
    assert sorted(written) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert all(path.stat().st_size for path in written)


def test_complexfuncbench_holds_paths_and_nothing_else(content: ReleaseContent, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no path of calls that were made"):
        export_release(content, "complexfuncbench", tmp_path)
    asked, due = content.samples[0].turns
    path = content.samples[0].with_changes(turns=(asked, due, ResultTurn(results=("Booked.",))))
    [file] = export_release(content._replace(samples=(path,)), "complexfuncbench", tmp_path)
    [line] = file.read_bytes().splitlines()
    assert file.name == "ComplexFuncBench.jsonl"
    assert orjson.loads(line)["id"] == "Travel-0"


def test_hammerbench_files_have_the_published_names(content: ReleaseContent, tmp_path: Path) -> None:
    written = export_release(content, "hammerbench", tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "en/multi-turn/HammerBench_Based.json",
        "en/single-turn/ST_External.json",
        "en/single-turn/ST_Imperfect.json",
        "en/single-turn/ST_Perfect.json",
        "en/single-turn/ir_ST_Perfect.json",
    ]


def test_hammerbench_files_are_read_back_as_the_samples_they_were(content: ReleaseContent, tmp_path: Path) -> None:
    export_release(content, "hammerbench", tmp_path)
    read = [item.sample for item in read_hammerbench(tmp_path) if item.sample is not None]
    back = {sample.request: sample for sample in read}
    assert len(back) == len(read) == len(content.samples)
    for sample in content.samples:
        assert calls(back[sample.request]) == calls(sample)
        assert back[sample.request].kind == sample.kind.replace("irrelevant", "irrelevant_perfect")
        assert len(back[sample.request].candidates) == len(sample.candidates)


def test_parquet_holds_every_sample_and_tool(content: ReleaseContent, tmp_path: Path) -> None:
    export_release(content, "parquet", tmp_path)
    rows = duckdb.sql(f"select key, gold, body from '{tmp_path}/samples.parquet'").fetchall()
    assert {key for key, _, _ in rows} == {sample.key for sample in content.samples}
    assert all(Sample.model_validate_json(body).key == key for key, _, body in rows)
    assert all(isinstance(orjson.loads(gold), list) for _, gold, _ in rows)
    assert duckdb.sql(f"select count(*) from '{tmp_path}/tools.parquet'").fetchall() == [(2,)]


def test_openai_files_are_one_json_object_a_line(content: ReleaseContent, tmp_path: Path) -> None:
    [path] = export_release(content, "openai", tmp_path)
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert path.name == "v1.jsonl"
    assert [line["metadata"]["key"] for line in lines] == [sample.key for sample in content.samples]
