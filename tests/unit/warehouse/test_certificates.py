"""Certificates of exports: a verifier without callwright says yes, and no once files are changed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from shutil import copytree

import orjson
import pytest
import yaml

import callwright
from callwright.generators.imports.reading import SOURCES
from callwright.validators.accepted import allowances_of
from callwright.warehouse.exports.formats import EXPORTS, export_release, export_tables
from callwright.warehouse.exports.verify_certificate import Verification, interval
from callwright.warehouse.exports.writing import Format
from callwright.warehouse.records import CallTurn, Evidence, GoldCall, ReplyTurn, Sample, UserTurn
from callwright.warehouse.releases import (
    GroundsReader,
    ReleaseContent,
    ReleaseStream,
    SampleGrounds,
    freeze,
    stream_release,
)
from callwright.warehouse.releases.reading import content_hash
from callwright.warehouse.store import Warehouse
from tests.support.warehouse.exported import release_of, stream_of
from tests.support.warehouse.fixtures import make_tool
from tests.support.warehouse.planted_files import FORGED, OF_TASKS, RAW, Files
from tests.support.warehouse.task_releases import task_stream

RIDE = make_tool(
    "Ride.book",
    place={"type": "string"},
    extras={"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    seats={"type": "integer", "default": 1},
    night={"type": "boolean"},
)


def said(name: str, quote: str, text: str, *, turn: int = 0) -> Evidence:
    at = text.index(quote)
    return Evidence(
        argument=name, kind="span", turn=turn, start=at, end=at + len(quote), quote=quote
    )


def riding(number: int) -> Sample:
    """A request whose place and extras are said, and whose seats are the default."""
    text = f"A ride to Voss {number} by Bergen and Flåm 🚲."
    extras = [said("extras[0]", "Bergen", text), said("extras[1]", "Flåm", text)]
    call = GoldCall(
        tool=RIDE.name,
        arguments={"place": f"Voss {number}", "extras": ["Bergen", "Flåm"], "seats": 1},
        evidence=(
            said("place", f"Voss {number}", text),
            *extras,
            Evidence(argument="seats", kind="default"),
        ),
    )
    return Sample(
        kind="perfect",
        language="en",
        category="Travel",
        candidates=(RIDE.key,),
        turns=(UserTurn(text=text), CallTurn(calls=(call,))),
    )


def asking(number: int) -> Sample:
    """A request without its place, which is asked for and then said, and by night, which is open."""
    text = f"To Odda {number}."
    call = GoldCall(
        tool=RIDE.name,
        arguments={"place": f"Odda {number}", "night": True},
        evidence=(said("place", f"Odda {number}", text, turn=3),),
    )
    return Sample(
        kind="sQsA",
        language="en",
        category="Travel",
        candidates=(RIDE.key,),
        turns=(
            UserTurn(text=f"Ride number {number}, please."),
            CallTurn(calls=(GoldCall(tool=RIDE.name),)),
            ReplyTurn(text="Where to?"),
            UserTurn(text=text),
            CallTurn(calls=(call,)),
        ),
    )


READERS = [
    {
        "reader": "a/b",
        "language": "en",
        "family": "single_turn",
        "defect": defect,
        "planted": planted,
        "caught": caught,
        "doubles": 4,
        "doubted_doubles": 1,
        **dict(zip(("caught_low", "caught_high"), interval(caught, planted), strict=True)),
    }
    for defect, planted, caught in (("", 20, 17), ("digit_changed", 12, 11), ("day", 8, 6))
]


def certified(source: ReleaseStream) -> ReleaseStream:
    """A release with its own content hash, accepted answers, a reader and a person."""
    samples = sorted(source.samples, key=lambda one: one[1].key)
    splits = [split for split, _ in samples]
    hashed = content_hash([one.key for _, one in samples], splits if any(splits) else ())
    return source._replace(
        samples=samples,
        release=source.release.with_changes(content_hash=hashed, samples=len(samples)),
        allowances=allowances_of,
        readers=READERS,
        grounds=lambda sample: SampleGrounds(grade="judged", readers=("a/b",), people=("Ida",)),
    )


def rides(*splits: str) -> ReleaseStream:
    samples = [make(number) for number in range(4) for make in (riding, asking)]
    content = release_of(samples, {RIDE.key: RIDE})
    return certified(stream_of(content, [*splits, *splits] * 2 if splits else ()))


PLAIN = [one.name for one in EXPORTS.rows() if isinstance(one, Format)]
WORLDS = [one.name for one in EXPORTS.rows() if isinstance(one, Format) and one.has_worlds]


def failures(folder: Path) -> list[str]:
    checked = Verification(folder)
    checked.run()
    return checked.failures


@pytest.mark.parametrize(
    "to", sorted({*PLAIN} - {"complexfuncbench", "openenv", "trl-dpo", "verifiers"})
)
def test_what_each_format_certifies_is_verified(to: str, tmp_path: Path) -> None:
    export_release(rides("train", "test"), to, tmp_path / "out")
    checked = Verification(tmp_path / "out")
    checked.run()
    assert checked.failures == []
    assert checked.counts["said"] >= (8 if to in ("callnavi", "confetti") else 12)
    assert checked.counts["schemas"] > 0 or to == "callnavi"


@pytest.mark.parametrize("to", WORLDS)
def test_the_ends_of_tasks_are_certified_and_verified(to: str, tmp_path: Path) -> None:
    export_release(certified(task_stream(tmp_path)), to, tmp_path / "out")
    checked = Verification(tmp_path / "out")
    checked.run()
    assert checked.failures == []
    assert checked.counts["end_states"] == 2
    if to == "openenv":
        stated = yaml.safe_load((tmp_path / "out" / "openenv.yaml").read_text())["validation"]
        assert stated["capabilities"]["declared_task_count"] == {"train": 1, "test": 1}


def test_what_a_schema_refuses_is_said_and_not_hidden(
    content: ReleaseContent, tmp_path: Path
) -> None:
    """Imported gold may break its schema."""
    [asked, due] = content.samples[0].turns
    [call] = due.calls if isinstance(due, CallTurn) else ()
    wrong = call.with_changes(arguments=call.arguments | {"nights": 0})
    odd = content.samples[0].with_changes(turns=(asked, CallTurn(calls=(wrong,))))
    source = certified(stream_of(content._replace(samples=(*content.samples, odd))))
    export_release(source, "records", tmp_path / "out")
    lines = (tmp_path / "out" / "certificate.jsonl").read_bytes().splitlines()
    places = [
        place for line in lines[1:] for row in orjson.loads(line)["rows"] for place in row["calls"]
    ]
    assert sorted(place["fits"] for place in places) == [False, True, True, True, True, True]
    assert failures(tmp_path / "out") == []


def test_tables_are_certified_by_copies_of_what_they_claim(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    source = rides()
    warehouse.put([*(one for _, one in source.samples), RIDE])
    release = freeze(warehouse, "v1", [one.key for _, one in source.samples])
    grounds = GroundsReader(warehouse)
    stream = stream_release(warehouse, release.name)
    stream = stream._replace(samples=grounds.through(stream.samples), grounds=grounds.of)
    export_tables(warehouse, stream, tmp_path / "out")
    checked = Verification(tmp_path / "out")
    assert checked.run(), checked.failures
    assert checked.counts["releases"] == 1
    assert checked.counts["said"] == 12


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The rides in formats of lines, and tasks as records."""
    folder = tmp_path_factory.mktemp("exported")
    for to in FORMATS:
        export_release(rides("train", "test"), to, folder / to)
    export_release(certified(task_stream(folder)), "records", folder / "tasks")
    return {path.name: path for path in folder.iterdir() if path.is_dir()}


FORMATS = ("openai", "trl", "trl-grpo", "records", "bfcl", "sharegpt", "nemo-gym", "langfuse")
PLANTED = [
    (plant, to, seed)
    for seed, plant in enumerate((*FORGED, *RAW) * 3)
    for to in (FORMATS[(seed + seed // len((*FORGED, *RAW))) % len(FORMATS)],)
] + [(plant, "tasks", seed) for seed, plant in enumerate(OF_TASKS)]


@pytest.mark.parametrize(
    ("plant", "to", "seed"), PLANTED, ids=lambda one: getattr(one, "__name__", str(one))
)
def test_no_planted_defect_is_certified(
    exported: dict[str, Path], plant: Callable[[Files], None], to: str, seed: int, tmp_path: Path
) -> None:
    """Whoever changes files may forge all hashes anew: what was changed contradicts the rest."""
    assert len(PLANTED) > 100
    if plant.__name__ == "call_renamed" and to == "bfcl":
        to = "records"  # there the name is where the call stands
    folder = tmp_path / "out"
    copytree(exported[to], folder)
    files = Files(folder, Random(seed))
    plant(files)
    if plant not in RAW:
        files.forge()
    assert failures(folder)


def test_the_verifier_runs_by_itself_and_says_what_is_wrong(
    exported: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    copytree(exported["openai"], folder)

    def verify() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", folder / "verify_certificate.py", folder]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    fine = verify()
    assert (fine.returncode, fine.stdout.splitlines()[-1]) == (0, "All holds.")
    (folder / "train.jsonl").write_bytes(b"")
    wrong = verify()
    assert wrong.returncode == 1
    assert "train.jsonl row 1" in wrong.stdout
    own = (folder / "verify_certificate.py").read_text()
    assert len(own.splitlines()) <= 300
    assert "callwright." not in own


def test_certificates_are_no_samples(exported: dict[str, Path]) -> None:
    assert len(callwright.load_release(exported["records"])) == 8
    records = [*SOURCES.named("openai").read(exported["openai"])]
    assert all(one.sample for one in records)
