"""What the command line hands out: previews, releases, exports, publications and reports of a
real small build.
"""

import asyncio
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import orjson
import pytest
from pyarrow import parquet

from callwright.flows.progress import SilentProgress
from callwright.flows.run.plan import build_dataset
from callwright.flows.settings import open_warehouse
from callwright.warehouse.exports.certificates import CERTIFICATE, SCHEMA, VERIFIER
from tests.support.flows.small_builds import (
    KINDS,
    TOP,
    environment,
    one,
    one_start,
    row_counts,
    run_here,
    settings_of,
    unmeasured_recipe,
    write_unmeasured_recipe,
)
from tests.support.llm.names import ANOTHER
from tests.support.sampling import slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with a build, the releases v1 and v2, and an evaluation of v2."""
    folder = tmp_path_factory.mktemp("doors")
    home = folder / "home"
    for recipe, release in (
        (write_unmeasured_recipe(folder, name="first"), "v1"),
        (write_unmeasured_recipe(folder, name="other", seed=9), "v2"),
    ):
        built = run_here("build", str(recipe), "--json", home=home)
        assert built.returncode == 0, built.stderr
        told = json.loads(built.stdout)
        assert told["landed"] == told["planned"] - sum(
            row[name] for row in told["funnel"] for name in ("rejected", "failed", "waiting")
        )
        created = run_here("release", "create", release, "--json", home=home)
        assert json.loads(created.stdout)["name"] == release
    evaluated = run_here("evaluate", "v2", "--model", "template/v1", "--json", home=home)
    assert json.loads(evaluated.stdout)[0]["candidate"] == "template/v1", evaluated.stderr
    return home


def told(home: Path, *words: str) -> object:
    """The JSON that a command prints, which is all that it prints."""
    done = run_here(*words, "--json", home=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_preview_shows_samples_of_each_kind_and_keeps_only_what_the_models_answered(
    tmp_path: Path,
) -> None:
    recipe, home = write_unmeasured_recipe(tmp_path), tmp_path / "home"
    shown = told(home, "build", str(recipe), "--preview", "2")
    assert isinstance(shown, list)
    assert sorted(item["kind"] for item in shown) == sorted(
        kind for kind in KINDS for _ in range(2)
    )
    assert sorted(
        path.name for path in home.iterdir() if not path.name.startswith("ledger.sqlite-")
    ) == ["ledger.sqlite"]
    text = run_here("build", str(recipe), "--preview", "2", home=home)
    assert text.stdout.count("user: ") == 2 * len(KINDS)
    assert not (home / "warehouse.duckdb").exists()
    assert told(home, "build", str(recipe), "--limit", "2", "--no-review")["planned"] == 2 * len(
        KINDS
    )  # type: ignore[index]
    assert one(settings_of(home), "select count(*) from llm_calls where not cached") == 0, (
        "the preview asked it all"
    )


def test_a_trial_after_a_whole_build_is_no_part_of_a_release_unless_it_is_named(
    tmp_path: Path,
) -> None:
    recipe, home = (
        write_unmeasured_recipe(tmp_path, samples={"perfect": 3}, languages=["en"]),
        tmp_path / "home",
    )
    trial = told(home, "build", str(recipe), "--limit", "1", "--no-review")
    refused = run_here("release", "create", "early", home=home)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"take it: --build {trial['build']}" in refused.stderr  # type: ignore[index]
    whole = told(home, "build", str(recipe), "--no-review")
    assert (trial["is_trial"], whole["is_trial"]) == (True, False)  # type: ignore[index]
    run_here(
        "build", str(recipe), "--limit", "1", "--model", "template/v1", "--no-review", home=home
    )
    assert one(settings_of(home), "select build from latest_builds") == whole["build"]  # type: ignore[index]
    assert one(settings_of(home), "select count(distinct build) from accepted_samples") == 1, (
        "what was tried is whole by now"
    )
    frozen = told(home, "release", "create", "v1")
    assert frozen["samples"] == whole["landed"] > trial["landed"]  # type: ignore[index]
    text = run_here("release", "create", "v1", home=home).stdout
    assert f"taken from build {whole['build']} (recipe small)" in text  # type: ignore[index]
    named = told(home, "release", "create", "tried", "--build", trial["build"][:8])  # type: ignore[index]
    assert named["samples"] == trial["landed"]  # type: ignore[index]


def test_one_model_can_stand_in_for_all_roles(tmp_path: Path) -> None:
    nobody = {"name": ANOTHER, "api_base": "http://127.0.0.1:9/v1"}
    recipe = write_unmeasured_recipe(
        tmp_path, models=dict.fromkeys(("generator", "checker", "judge"), nobody)
    )
    built = told(
        tmp_path / "home",
        "build",
        str(recipe),
        "--model",
        "template/v1",
        "--limit",
        "1",
        "--no-review",
    )
    assert built["planned"] == len(KINDS)  # type: ignore[index]
    assert built["landed"] >= len(KINDS) - 1  # type: ignore[index] # the template may misread one


def test_a_release_that_was_edited_is_noticed_wherever_it_is_met(
    home: Path, tmp_path: Path
) -> None:
    shutil.copy(home / "warehouse.duckdb", tmp_path)
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as edited:
        edited.execute(
            "update samples set request = 'Snow?' where key in (select min(subject) from"
            " release_samples where release = 'v1')"
        )
    verified = run_here("release", "verify", home=tmp_path)
    assert verified.returncode == 1
    assert " is not as it was frozen: samples " in verified.stdout
    assert "Changed since it was frozen" in run_here("release", "card", "v1", home=tmp_path).stdout
    exported = run_here(
        "export", "v1", "--to", "openai", "--out", str(tmp_path / "out"), home=tmp_path
    )
    assert (exported.returncode, (tmp_path / "out").exists()) == (1, False)
    assert "A release never changes" in exported.stderr
    assert told(home, "release", "verify", "v1")[0]["is_intact"]  # type: ignore[index]


def test_a_release_in_splits_says_what_is_where(home: Path, tmp_path: Path) -> None:
    shutil.copy(home / "warehouse.duckdb", tmp_path)
    asked = ("release", "create", "parts", "--splits", "train=0.5,test=0.5")
    text = run_here(*asked, home=tmp_path).stdout
    made = told(tmp_path, *asked)
    parts = made["samples_by_split"]  # type: ignore[index]
    for name, number in parts.items():
        assert f"  split {name}: {number} samples" in text
    assert sum(parts.values()) == made["samples"]  # type: ignore[index]
    card = run_here("release", "card", "parts", home=tmp_path).stdout
    assert f"| all | {parts['train']} | {parts['test']} |" in card
    for heading in (
        "What is in it",
        "Splits",
        "Where it comes from",
        "How it was checked",
        "Who looked at it",
        "Licence",
        "Known limits",
        "How to cite",
    ):
        assert f"\n## {heading}\n" in card
    asked_wrongly = run_here("release", "create", "../up", home=tmp_path)
    assert asked_wrongly.returncode == 2
    assert "can't be named '../up'" in asked_wrongly.stderr


@pytest.mark.parametrize("to", ["openai", "bfcl", "hammerbench", "parquet"])
def test_an_export_has_every_sample(home: Path, tmp_path: Path, to: str) -> None:
    exported = told(home, "export", "v1", "--to", to, "--with-template", "--out", str(tmp_path))
    paths = [Path(name) for name in exported["files"]]  # type: ignore[index]
    assert all(path.is_relative_to(tmp_path) and path.is_file() for path in paths)
    about = {"README.md", "export.json", CERTIFICATE, SCHEMA, VERIFIER}
    assert about <= {path.name for path in paths}
    data = [path for path in paths if path.name not in about]
    counts = {str(path.relative_to(tmp_path)): count_rows(path) for path in data}
    samples = exported["samples"]  # type: ignore[index]
    skipped = sum(one["number"] for one in exported["skipped"])  # type: ignore[index]
    match to:
        case "openai":
            assert counts["v1.jsonl"] == counts["v1.origins.jsonl"] == exported["rows"]  # type: ignore[index]
            assert counts["v1.jsonl"] + skipped == samples, (
                "one act a sample here; what can't be taught rightly is said"
            )
        case "bfcl":
            questions, irrelevant = (
                counts["BFCL_v4_multiple.json"],
                counts["BFCL_v4_irrelevance.json"],
            )
            assert questions + irrelevant == samples
            assert counts["possible_answer/BFCL_v4_multiple.json"] == questions
        case "hammerbench":
            assert sum(counts.values()) == samples
            assert len(counts) == 2 * len(KINDS), "a file for each language and kind"
        case _:
            assert counts["samples.parquet"] == samples
            assert counts["tools.parquet"] > 0


@pytest.mark.parametrize("to", ["openai", *map(slow, ("trl", "sharegpt", "nemo-gym", "hf"))])
def test_what_the_template_model_worded_is_exported_for_training_only_where_it_is_asked_for(
    home: Path, tmp_path: Path, to: str
) -> None:
    asked = ("export", "v1", "--to", to, "--out", str(tmp_path / "out"))
    refused = run_here(*asked, home=home)
    assert (refused.returncode, refused.stdout, (tmp_path / "out").exists()) == (1, "", False)
    assert "Nothing is left to export: the template model worded them" in refused.stderr
    assert "`--with-template` takes them as well" in refused.stderr
    assert told(home, *asked, "--with-template")["rows"]  # type: ignore[index]


def count_rows(path: Path) -> int:
    if path.suffix == ".parquet":
        return int(parquet.read_table(path).num_rows)
    text = path.read_bytes()
    if text.startswith(b"["):
        return len(orjson.loads(text))
    return len([orjson.loads(line) for line in text.splitlines()])


def test_a_query_reads_and_changes_nothing(home: Path) -> None:
    assert told(
        home, "query", "select count(*) as n from accepted_samples where grade = 'vouched'"
    ) == [{"n": 0}]
    before = row_counts(settings_of(home))
    for sql in (
        "delete from samples",
        "drop table outcomes",
        "copy (select 1) to '/tmp/x.csv'",
        "select * from '/etc/passwd'",
    ):
        refused = run_here("query", sql, home=home)
        assert (refused.returncode, refused.stdout) == (2, ""), sql
    assert row_counts(settings_of(home)) == before


WRITING = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_a_publication_is_read_while_somebody_writes_and_replaced_while_somebody_reads(
    home: Path,
) -> None:
    published = told(home, "publish")
    database = Path(published["database"])  # type: ignore[index]
    count = "select count(*) from accepted_samples"
    writer = start_holding(settings_of(home).warehouse)
    reader = duckdb.connect(str(database), read_only=True)
    try:
        before = reader.execute(count).fetchall()
        files = str(Path(published["parquet"]) / "accepted_samples.parquet")  # type: ignore[index]
        assert reader.execute(f"select count(*) from '{files}'").fetchall() == before
        with pytest.raises(duckdb.IOException):
            duckdb.connect(str(settings_of(home).warehouse), read_only=True)
    finally:
        writer.communicate(timeout=10)
    old = database.stat().st_ino
    told(home, "publish")
    assert database.stat().st_ino != old
    assert reader.execute(count).fetchall() == before, "whoever has the old one open keeps it"
    reader.close()
    with duckdb.connect(str(database), read_only=True) as again:
        assert again.execute(count).fetchall() == before
    assert sorted(
        path.name for path in database.parent.iterdir() if not path.name.startswith(".")
    ) == ["parquet", "warehouse.duckdb"]


def start_holding(path: Path):  # type: ignore[no-untyped-def]
    import subprocess

    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_the_report_has_its_plots_and_loads_nothing_from_elsewhere(
    home: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out" / "report.html"
    assert told(home, "report", "--out", str(out)) == {"report": str(out)}
    page = out.read_text(encoding="utf-8")
    body = page[page.index("<body>") :]
    assert body.count('<svg class="plot"') >= 4
    loaded = re.findall(
        r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)\s*=\s*["']?([^"'\s>]+)""", body
    )
    assert [address for address in loaded if not address.startswith(("#", "data:"))] == []
    assert re.findall(r"<script[^>]*\bsrc=", page[: page.index("<body>")]) == []
    for recipe in ("first", "other"):
        assert recipe in body


def test_a_build_in_a_warehouse_that_its_process_holds_open_publishes_all_of_it(
    tmp_path: Path,
) -> None:
    settings = settings_of(tmp_path)
    with open_warehouse(settings).together():
        report = asyncio.run(
            build_dataset(unmeasured_recipe(samples={"perfect": 2}), settings, SilentProgress())
        )
    with duckdb.connect(str(settings.published / "warehouse.duckdb"), read_only=True) as read:
        assert read.execute("select count(*) from accepted_samples").fetchall() == [
            (report.landed,)
        ]


def test_a_build_that_can_t_publish_says_so_and_ends_well(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "published").write_text("a file where the folder belongs", encoding="utf-8")
    recipe = write_unmeasured_recipe(tmp_path, samples={"perfect": 3})
    done = run_here(
        "build", str(recipe), "--no-review", home=home, CALLWRIGHT_PUBLISH_EVERY="0.0001"
    )
    assert (done.returncode, "small: 3 of 3 samples accepted" in done.stdout) == (0, True), (
        done.stderr
    )
    told = [line for line in done.stderr.splitlines() if line.startswith("Publishing to")]
    assert len(told) <= 3, "once a group and once at the end"
    assert "The build itself is not affected" in told[-1]
    assert run_here("publish", home=home).returncode == 1
    (home / "published").unlink()
    assert run_here("publish", home=home).returncode == 0


def test_who_may_only_read_a_work_folder_reads_all_of_it(home: Path, tmp_path: Path) -> None:
    """In a mount of its own, read-only, and beside somebody who reads it too."""
    words = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mount = f"mount --bind {home} {home} && mount -o remount,bind,ro {home}"
    if subprocess.run([*words, mount], check=False, capture_output=True).returncode:
        pytest.skip("This machine lets nobody mount anything.")
    commands = [
        ["query", "select count(*) from samples"],
        ["release", "list"],
        ["review", "status"],
        ["report", "--out", str(tmp_path / "report.html")],
        ["view", "--out", str(tmp_path / "page")],
    ]
    reading = shlex.join(one_start(sys.executable, *commands))
    script = " && ".join([mount, f"! touch {home / 'x'} 2>/dev/null", reading])
    with duckdb.connect(str(settings_of(home).warehouse), read_only=True):
        done = subprocess.run(
            [*words, script],
            check=False,
            capture_output=True,
            text=True,
            cwd=TOP,
            env=environment(home),
        )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").is_file()
    assert list((tmp_path / "page").glob("*.html"))
