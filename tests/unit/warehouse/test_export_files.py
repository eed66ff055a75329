"""Exports on disk: which files there are, and that HammerBench's come back as what they were."""

import re
import weakref
from collections.abc import Iterator
from pathlib import Path

import duckdb
import orjson
import pytest
import yaml

from callwright.generators.imports.papers import read_hammerbench
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.exports.formats import EXPORTS, export_release, export_tables
from callwright.warehouse.exports.writing import Format, ReleaseSplit, Write, canary
from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, ResultTurn, Sample, UserTurn
from callwright.warehouse.releases import ReleaseContent, ReleaseStream, freeze, stream_release
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import TOP
from tests.support.warehouse.exported import rows_in, stream_of

# The store copies the tables; pairs are nothing without worse answers (test_answer_exports.py),
# environments without tasks.
CERTIFIED = ("certificate.jsonl", "certificate.schema.json", "verify_certificate.py")
STREAMED = [
    row.name
    for row in EXPORTS.rows()
    if isinstance(row, Format) and row.name not in ("trl-dpo", "openenv", "verifiers")
]


def calls(sample: Sample) -> list[list[tuple[str, dict[str, object]]]]:
    return [
        [(call.tool, call.arguments) for call in turn.calls]
        for turn in sample.turns
        if isinstance(turn, CallTurn)
    ]


def test_an_unknown_format_is_answered_with_the_known_ones(
    content: ReleaseContent, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=", ".join(sorted(EXPORTS))):
        export_release(stream_of(content), "csv", tmp_path)


def test_every_format_is_on_the_page_and_in_the_help() -> None:
    page = (TOP / "docs" / "exports.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == set(EXPORTS)
    words = (TOP / "flows" / "cli" / "releasing.py").read_text(encoding="utf-8")
    assert all(re.search(rf"\b{name}\b", words) for name in EXPORTS)


def test_complexfuncbench_holds_paths_and_nothing_else(
    content: ReleaseContent, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match="no path of calls that were made"):
        export_release(stream_of(content), "complexfuncbench", tmp_path)
    asked, due = content.samples[0].turns
    path = content.samples[0].with_changes(turns=(asked, due, ResultTurn(results=("Booked.",))))
    assert not list(tmp_path.iterdir())
    mixed = export_release(
        stream_of(content._replace(samples=(path, *content.samples))), "complexfuncbench", tmp_path
    )
    file = mixed.files[0]
    assert mixed.rows == 1
    assert {one.kind: one.number for one in mixed.skipped} == dict.fromkeys(
        ("perfect", "imperfect", "external", "irrelevant", "sQsA"), 1
    )
    assert "no path of calls that were made" in mixed.skipped[0].reason
    [line] = file.read_bytes().splitlines()
    assert file.name == "ComplexFuncBench.jsonl"
    assert orjson.loads(line)["id"] == "Travel-0"


def test_hammerbench_files_are_read_back_as_the_samples_they_were(
    content: ReleaseContent, tmp_path: Path
) -> None:
    export_release(stream_of(content), "hammerbench", tmp_path)
    read = [item.sample for item in read_hammerbench(tmp_path) if item.sample is not None]
    back = {sample.request: sample for sample in read}
    assert len(back) == len(read) == len(content.samples)
    for sample in content.samples:
        assert calls(back[sample.request]) == calls(sample)
        assert back[sample.request].kind == sample.kind.replace("irrelevant", "irrelevant_perfect")
        assert len(back[sample.request].candidates) == len(sample.candidates)


def test_parquet_holds_every_sample_and_tool_split_by_split(
    content: ReleaseContent, tmp_path: Path
) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    warehouse.put([*content.samples, *content.tools.values()])
    splits = {sample.key: split for split, sample in in_splits(content).samples}
    release = freeze(warehouse, "v1", sorted(splits))
    for key, split in splits.items():
        warehouse.execute("update release_samples set split = ? where subject = ?", [split, key])
    stream = stream_release(warehouse, release.name)
    written = export_tables(warehouse, stream, tmp_path / "out", "# v1")
    assert [path.relative_to(tmp_path / "out").as_posix() for path in written.files] == [
        "test/samples.parquet",
        "train/samples.parquet",
        "validation/samples.parquet",
        "tools.parquet",
        *CERTIFIED,
        "README.md",
        "export.json",
    ]
    assert written.splits == {"train": 3, "validation": 1, "test": 1}
    rows = duckdb.sql(
        f"select key, gold, body, canary from '{tmp_path}/out/*/samples.parquet'"
    ).fetchall()
    assert {key: bool(mark) for key, _, _, mark in rows} == {
        key: split == "test" for key, split in splits.items()
    }
    assert all(Sample.model_validate_json(body).key == key for key, _, body, _ in rows)
    assert all(isinstance(orjson.loads(gold), list) for _, gold, _, _ in rows)
    assert duckdb.sql(f"select count(*) from '{tmp_path}/out/tools.parquet'").fetchall() == [(2,)]
    stream = stream_release(warehouse, release.name, without=["imperfect", "sQsA", "irrelevant"])
    few = export_tables(warehouse, stream, tmp_path / "out", kinds=["perfect"])
    assert few.rows == 1


def test_openai_files_are_one_json_object_a_line(content: ReleaseContent, tmp_path: Path) -> None:
    written = export_release(stream_of(content), "openai", tmp_path)
    rows, origins = (
        [orjson.loads(line) for line in path.read_bytes().splitlines()]
        for path in written.files[:2]
    )
    assert [path.name for path in written.files] == [
        "v1.jsonl",
        "v1.origins.jsonl",
        *CERTIFIED,
        "README.md",
        "export.json",
    ]
    assert len(rows) == len(origins) == written.rows == 5
    assert {origin["key"] for origin in origins} <= {sample.key for sample in content.samples}
    assert [(one.kind, one.number) for one in written.skipped] == [("imperfect", 1)]


def test_what_a_format_can_not_hold_is_left_out_and_said(
    content: ReleaseContent, tmp_path: Path
) -> None:
    odd = content.samples[0].with_changes(
        turns=(content.samples[0].turns[0], CallTurn(calls=(GoldCall(tool="sing"),)))
    )
    written = export_release(
        stream_of(content._replace(samples=(*content.samples, odd))), "bfcl", tmp_path / "out"
    )
    assert [(one.kind, one.number) for one in written.skipped] == [("perfect", 1)]
    assert "no candidate has this name" in (tmp_path / "out" / "README.md").read_text()


def test_an_export_that_breaks_off_leaves_what_was_there(
    content: ReleaseContent, tmp_path: Path
) -> None:
    """Files are written beside and moved when all of them are whole."""
    export_release(stream_of(content), "bfcl", tmp_path / "out")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    bfcl = EXPORTS.named("bfcl")
    assert isinstance(bfcl, Format)

    def begin(part: ReleaseSplit) -> Write:
        write = bfcl.begin(part)

        def write_half(sample: Sample) -> int:
            if part.samples:
                raise OSError("The disk is full.")
            return write(sample)

        return write_half

    with EXPORTS.including(bfcl._replace(begin=begin)), pytest.raises(OSError, match="full"):
        export_release(stream_of(content), "bfcl", tmp_path / "out")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_new_export_takes_the_place_of_an_older_one_whole(
    content: ReleaseContent, tmp_path: Path
) -> None:
    export_release(stream_of(content), "bfcl", tmp_path / "out")
    irrelevant = [sample for sample in content.samples if sample.kind == "irrelevant"]
    written = export_release(
        stream_of(content._replace(samples=tuple(irrelevant))), "bfcl", tmp_path / "out"
    )
    assert sorted(written.files) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert written.files[0].name == "BFCL_v4_irrelevance.json"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_of_other_things_is_left_alone(content: ReleaseContent, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("Chapter 1")
    with pytest.raises(ConfigurationError, match="not an export"):
        export_release(stream_of(content), "openai", tmp_path)
    export_release(stream_of(content), "bfcl", tmp_path / "out")
    with pytest.raises(ConfigurationError, match="'bfcl'"):
        export_release(stream_of(content), "openai", tmp_path / "out")


def in_splits(content: ReleaseContent) -> ReleaseStream:
    return stream_of(content, ("test", "train", "train", "validation", "train"))


@pytest.mark.parametrize("to", sorted({*STREAMED} - {"complexfuncbench", "confetti"}))
def test_splits_are_files_or_folders_and_test_rows_are_marked(
    content: ReleaseContent, tmp_path: Path, to: str
) -> None:
    split = in_splits(content)
    written = export_release(split, to, tmp_path, "# v1")
    assert set(written.splits) >= {"train", "validation"}
    names = [path.relative_to(tmp_path).as_posix() for path in written.files]
    assert all(
        any(name.startswith((f"{part}.", f"{part}/", f"data/{part}")) for name in names)
        for part in written.splits
    )
    manifest = orjson.loads((tmp_path / "export.json").read_bytes())
    assert (manifest["rows"], bool(manifest["canary"])) == (
        written.splits,
        "test" in written.splits,
    )
    if manifest["canary"]:
        assert manifest["canary"] in (tmp_path / "README.md").read_text()
        assert manifest["canary"] == canary(split.release)


@pytest.mark.parametrize("to", STREAMED)
def test_each_test_row_has_the_canary_and_no_other_row_has_it(
    content: ReleaseContent, tmp_path: Path, to: str
) -> None:
    done = CallTurn(calls=content.samples[0].gold, executed=True)
    path = content.samples[0].with_changes(
        turns=(UserTurn(text="Go."), done, ResultTurn(results=("Booked.",)))
    )
    source = stream_of(
        content._replace(samples=(*content.samples, path)),
        (*["test", "train"] * 2, "train", "test"),
    )
    export_release(source, to, tmp_path)
    mark, seen = canary(source.release), set()
    for file in [
        file
        for file in tmp_path.rglob("*.json*")
        if {"test", "train"} & {file.stem.split(".")[0], *file.parts}
    ]:
        if "APIs" in file.parts or (to == "openai" and "origins" not in file.name):
            continue
        for row in rows_in(file):
            found = row["extra"].get("canary") if to == "atif" else row.get("canary")
            assert (found == mark) is ("test" in file.relative_to(tmp_path).as_posix()), file
            seen.add(found)
    for file in tmp_path.rglob("*.parquet"):
        assert duckdb.sql(f"select distinct canary = '{mark}' from '{file}'").fetchall() == [
            (file.stem == "test",)
        ]
    assert mark in seen or to == "hf"


@pytest.mark.parametrize("to", STREAMED)
def test_no_sample_is_kept_longer_than_it_is_written(
    content: ReleaseContent, tmp_path: Path, to: str
) -> None:
    """A release may be larger than memory."""
    alive: list[weakref.ref[Sample]] = []

    def drawn() -> Iterator[tuple[str, Sample]]:
        done = CallTurn(calls=content.samples[0].gold, executed=True)
        for number in range(20):
            turns = (
                UserTurn(text=f"Trip {number}."),
                done,
                ResultTurn(results=("Booked.",)),
                ReplyTurn(text="Done."),
            )
            kind = "perfect" if to == "hammerbench" else "multi_step"
            due = (
                (turns[0], CallTurn(calls=done.calls))
                if to in ("callnavi", "hammerbench")
                else turns
            )
            sample = content.samples[0].with_changes(kind=kind, turns=due)
            alive.append(weakref.ref(sample))
            yield "train", sample
            del sample
            assert sum(one() is not None for one in alive) <= 1

    export = export_release(stream_of(content)._replace(samples=drawn()), to, tmp_path)
    assert export.rows >= 20


def test_the_readme_is_the_card_with_what_the_format_needs(
    content: ReleaseContent, tmp_path: Path
) -> None:
    export_release(
        in_splits(content), "hf", tmp_path, "---\npretty_name: v1\n---\n# v1\n\nWhat it is."
    )
    _, head, body = (tmp_path / "README.md").read_text().split("---\n", 2)
    [config] = yaml.safe_load(head)["configs"]
    assert config["data_files"] == [
        {"split": "train", "path": "data/train.parquet"},
        {"split": "validation", "path": "data/validation.parquet"},
        {"split": "test", "path": "data/test.parquet"},
    ]
    assert yaml.safe_load(head)["pretty_name"] == "v1"
    assert body.startswith("# v1\n\nWhat it is.")
    assert "| test | 1 | 1 |" in body
