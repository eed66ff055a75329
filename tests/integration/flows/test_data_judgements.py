"""What people say of an audit's findings is kept, counted, and becomes a patch."""

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callwright.flows.cli.main import app
from callwright.flows.settings import open_warehouse
from tests.integration.flows.test_data_audits import bfcl_file
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import open_site
from tests.support.flows.small_builds import settings_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLWRIGHT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == code, result.output
    return f"{result.output}{result.exception or ''}"


def audited(folder: Path) -> list[dict]:
    path = bfcl_file(folder, ["five", 5, "four"])
    run("audit", "data", path, "--name", "mine", "--fail-on", "never", "--out", folder / "f.jsonl")
    found = map(json.loads, (folder / "f.jsonl").read_text().splitlines())
    return sorted((one for one in found if one["sort"] == "type"), key=lambda one: str(one["item"]))


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_judgements_of_a_file_are_kept_once_and_counted(
    tmp_path: Path, home: Path, suffix: str
) -> None:
    first, second = (one["key"] for one in audited(tmp_path))
    file = tmp_path / f"judged{suffix}"
    file.write_text(
        f"finding,verdict,note,person\n{first},confirmed,,ann\n{second},refused,said later,ann\n"
        if suffix == ".csv"
        else f'{{"finding": "{first}", "verdict": "confirmed", "person": "ann"}}\n'
        f'{{"finding": "{second}", "verdict": "refused", "person": "ann"}}\n'
    )
    assert run("audit", "judge", "mine", file).startswith(
        "2 new judgements: 1 confirmed, 1 refused"
    )
    assert run("audit", "judge", "mine", file).startswith("0 new judgements")
    [row] = open_warehouse(settings_of(home)).rows("select * from finding_precision")
    assert (row["n_judged"], row["n_confirmed"]) == (2, 1)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"finding": "nothing", "verdict": "confirmed"}', "no finding 'nothing'"),
        ('{"finding": "KEY", "verdict": "right"}', "confirmed"),
        ('{"verdict": "confirmed"}', "finding"),
        ("[1", "not JSON"),
    ],
)
def test_a_line_that_is_no_judgement_is_told_and_nothing_is_kept(
    tmp_path: Path, home: Path, line: str, told: str
) -> None:
    key = audited(tmp_path)[0]["key"]
    file = tmp_path / "judged.jsonl"
    good = json.dumps({"finding": key, "verdict": "confirmed"})
    file.write_text(f"{good}\n{line.replace('KEY', key)}\n")
    said = run("audit", "judge", "mine", file, code=1)
    assert told in said
    assert f"{file}:2" in said.replace("\n", "")
    assert open_warehouse(settings_of(home)).rows("select * from finding_judgements") == []


def test_a_confirmed_finding_with_a_right_value_becomes_a_corrected_row(
    tmp_path: Path, home: Path
) -> None:
    first, second = audited(tmp_path)
    open_warehouse(settings_of(home)).execute("update findings set expected = '5'")
    file = tmp_path / "judged.jsonl"
    judged = {first["key"]: "confirmed", second["key"]: "refused"}
    file.write_text(
        "".join(json.dumps({"finding": key, "verdict": one}) + "\n" for key, one in judged.items())
    )
    run("audit", "judge", "mine", file)
    run("audit", "patch", "mine", "--out", tmp_path / "patch.jsonl")
    [row] = map(json.loads, (tmp_path / "patch.jsonl").read_text().splitlines())
    assert row == {"id": "mine_0", "ground_truth": [{"book_table": {"guests": [5]}}]}


def test_reviewers_confirm_refuse_or_note_a_finding_and_take_it_back(
    tmp_path: Path, home: Path
) -> None:
    site = open_site(home, PaperStudio())
    audited(tmp_path)
    told = run("audit", "judge", "mine")
    assert told.startswith("2 new questions.")
    assert run("audit", "judge", "mine").startswith("0 new questions.")
    assert site.push() == (2, 0)
    tasks = sorted(site.studio.tasks.values(), key=lambda one: one["place"])
    first, second = tasks
    assert (first["gold"], first["conversation"][0]["text"]) == (
        "five",
        "Book a table for 5 guests as client A0.",
    )
    held = site.studio.annotate(first["subject"], "accept")
    site.studio.annotate(second["subject"], "reject", reasons=["noted"])
    site.pull()

    def verdicts() -> list[tuple[str, str]]:
        rows = site.rows("select finding, verdict from finding_verdicts order by verdict")
        return [(row["finding"], row["verdict"]) for row in rows]

    assert verdicts() == [(first["subject"], "confirmed"), (second["subject"], "noted")]
    [row] = site.rows("select * from finding_precision")
    assert (row["n_judged"], row["n_confirmed"]) == (1, 1)
    site.studio.delete(held)
    site.pull()
    assert verdicts() == [(second["subject"], "noted")]


def test_readers_are_asked_once_and_not_of_golds_that_code_contradicts(
    tmp_path: Path, home: Path
) -> None:
    path = bfcl_file(tmp_path, [5, "five", 7])
    words = ("audit", "data", path, "--model", "template/v1", "--fail-on", "never")
    run(*words)

    def answers() -> int:
        with sqlite3.connect(settings_of(home).ledger) as ledger:
            [[count]] = ledger.execute("select count(*) from answers")
        return int(count)

    asked = answers()
    assert asked
    run(*words, "--again")
    assert answers() == asked
    rows = open_warehouse(settings_of(home)).rows(
        "select item from findings where sort in ('reading_differs', 'unread')"
    )
    assert "mine_1" not in {row["item"] for row in rows}
