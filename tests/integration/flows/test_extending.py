"""The pages of docs/extending: each opens with code that works, which `init` writes and a recipe
takes by `extensions`.
"""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from callwright.flows.environments import open_environments
from callwright.flows.evaluation.evaluating import evaluate_release
from callwright.flows.plugins import tables
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, Recipe, parse_recipe
from callwright.flows.review.pushing import tasks_for
from callwright.flows.scaffolds import ROWS, Sort, scaffold
from callwright.flows.settings import Settings
from callwright.generators.environments.episodes import START, diff, world_of
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.models import open_adapter, read_model
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import Call
from callwright.warehouse.releases import freeze
from tests.support.flows.small_builds import (
    TOP,
    build,
    run_here,
    settings_of,
    unmeasured_settings_in_recipe,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.sampling import slow

SORTS: tuple[Sort, ...] = get_args(Sort)
SMALL = {"languages": ["en"], "samples": {"perfect": 3}, "tools": [{"seed": ["Weather", "Trains"]}]}


@pytest.fixture(autouse=True)
def as_they_were() -> Iterator[None]:
    """Rows stay until the process ends: other tests of this one must not meet them."""
    yield
    for table in tables():
        table.clear()


def code_of(sort: Sort) -> str:
    page = (TOP / "docs" / "extending" / f"{sort}.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


def recipe_with(folder: Path, sort: Sort, **changes: Any) -> Recipe:
    """A small recipe with the code of a page beside it."""
    (folder / "own.py").write_text(code_of(sort), encoding="utf-8")
    stated = unmeasured_settings_in_recipe(
        **{**SMALL, **changes}, extensions=[f"own.py:{ROWS[sort]}"]
    )
    return parse_recipe(stated, folder, "small")


@pytest.mark.parametrize("sort", SORTS)
def test_a_page_opens_with_the_lines_that_init_writes(sort: Sort, tmp_path: Path) -> None:
    assert code_of(sort) == scaffold(sort)
    assert 15 <= len(code_of(sort).splitlines()) <= 65
    run_here("init", str(tmp_path), f"--{sort}", "mine", home=tmp_path)
    written = (tmp_path / "mine.py").read_text(encoding="utf-8")
    assert written == re.sub(r"\bexample\b", "mine", code_of(sort))
    recipe = parse_recipe(
        unmeasured_settings_in_recipe(**SMALL, extensions=[f"mine.py:{ROWS[sort]}"]),
        tmp_path,
        "small",
    )
    assert recipe.extensions[0].file == tmp_path / "mine.py"


def test_a_file_that_is_there_is_left_alone_and_a_name_that_is_none_refused(tmp_path: Path) -> None:
    def answer(name: str) -> tuple[int, str]:
        done = run_here("init", str(tmp_path), "--kind", name, home=tmp_path)
        return done.returncode, done.stderr

    assert answer("mine")[0] == 0
    code, message = answer("mine")
    assert (code, "mine.py' exists" in message) == (2, True)
    code, message = answer("../mine")
    assert (code, "is no name" in message) == (2, True)


@pytest.mark.parametrize("workers", [slow(1), 2])
def test_samples_of_the_pages_kind_are_made_checked_and_landed_by_any_number_of_workers(
    tmp_path: Path, workers: int
) -> None:
    recipe = recipe_with(tmp_path, "kind", samples={"perfect": 4, "example": 2}, shard_size=2)
    settings = settings_of(tmp_path / "home", CALLWRIGHT_WORKERS=str(workers))
    assert build(recipe, settings).landed >= 5  # the template may misread one
    rows = warehouse_of(settings).rows(
        "select request from samples s join acceptances a on a.subject = s.key where kind ="
        " 'example'"
    )
    assert rows
    assert all(re.search(r"(Thanks!|Thank you!|Many thanks\.)$", row["request"]) for row in rows)
    [kind] = warehouse_of(settings).rows("select family, paper from kinds where name = 'example'")
    assert kind == {"family": "example", "paper": ""}


def test_a_release_is_exported_by_a_file_of_ones_own(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home")
    recipe_with(tmp_path, "export")
    assert (
        run_here(
            "build", str(write_unmeasured_recipe(tmp_path)), "--no-review", home=settings.home
        ).returncode
        == 0
    )
    assert run_here("release", "create", "v1", home=settings.home).returncode == 0
    own = tmp_path / "own.py"
    done = run_here(
        "export", "v1", "--to", f"{own}:FORMAT", "--out", str(tmp_path / "out"), home=settings.home
    )
    assert done.returncode == 0, done.stderr
    assert '"calls":[{"tool":' in (tmp_path / "out" / "v1.jsonl").read_text()
    wrong = run_here("export", "v1", "--to", f"{own}:Format", home=settings.home)
    assert wrong.returncode == 2
    assert "is not an export format" in wrong.stderr


def test_answers_are_scored_by_the_pages_metric_and_one_that_raises_costs_its_score(
    tmp_path: Path,
) -> None:
    settings, said = settings_of(tmp_path / "home"), list[str]()
    made = build(recipe_with(tmp_path, "metric"), settings)
    warehouse = warehouse_of(settings)
    keys = [row["subject"] for row in warehouse.rows("select subject from acceptances")]
    freeze(warehouse, "v1", keys)
    progress, candidate = SilentProgress(), Candidate(label="near", model=read_model("template/v1"))
    progress.say = said.append  # type: ignore[method-assign]

    def evaluate() -> dict[str, float]:
        asyncio.run(evaluate_release("v1", [candidate], settings, progress))
        rows = warehouse.rows("select metric, value from scores where slice_by = 'all'")
        return {row["metric"]: row["value"] for row in rows}

    figures = evaluate()
    assert figures.pop("example") == 1
    changed = code_of("metric").replace("    calls = ", "    1 / 0\n    calls = ")
    (tmp_path / "own.py").write_text(changed, encoding="utf-8")
    again = parse_recipe(
        unmeasured_settings_in_recipe(**SMALL, extensions=["own.py:METRIC"]), tmp_path, "small"
    )
    assert evaluate() == figures
    assert [one for one in said if re.search(r"'example' \(.*own.py:9\) raised ZeroDivis", one)]
    assert build(again, settings).build == made.build, "a metric is no part of what is built"


def test_tools_are_read_by_the_pages_importer(tmp_path: Path) -> None:
    lines = [
        "tool,description,parameter,type",
        "find_street,Finds a street by its name.,street_name,string",
    ]
    lines += [
        "find_street,Finds a street by its name.,limit,integer",
        "ring_bell,Rings a door's bell.,door_number,integer",
    ]
    (tmp_path / "town.csv").write_text("\n".join(lines))
    recipe = recipe_with(
        tmp_path,
        "importer",
        tools=[{"import": "example", "path": "town.csv"}],
        samples={"perfect": 2},
    )
    settings = settings_of(tmp_path / "home")
    assert build(recipe, settings).planned == 2
    assert {row["name"] for row in warehouse_of(settings).rows("select name from tools")} == {
        "find_street",
        "ring_bell",
    }


async def test_calls_are_answered_by_the_pages_world_and_change_it_in_an_episode(
    tmp_path: Path,
) -> None:
    recipe = recipe_with(
        tmp_path,
        "environment",
        tools=[{"seed": ["Weather"]}, {"environment": "example", "lent": 1}],
    )
    again = Recipe.model_validate_json(recipe.model_dump_json(by_alias=True))
    assert again == recipe
    with open_environments(again, tmp_path) as environments:
        library = environments["example"]
        found = (await library.answer(Call(tool="find_books", arguments={"title": "sol"}))).response
        assert [book["title"] for book in found] == ["Solaris"]  # type: ignore[union-attr,index,call-overload]
        assert ("lend_book", "book_id", "find_books", "book_id") in {
            (link.tool, link.parameter, link.source, link.field) for link in library.links
        }
        episode = world_of(library).begin(seed=3)
        [free, *_] = [
            book for book in episode.answer(Call(tool="find_books")).response if not book["lent_to"]
        ]  # type: ignore[union-attr,index,call-overload]
        call = Call(tool="lend_book", arguments={"book_id": free["book_id"], "member": "Kim"})  # type: ignore[index,call-overload]
        assert not episode.answer(call).problem
        assert episode.answer(call).error == "conflict"
        [change] = diff(START, episode.state)
        assert (change.kind, change.field, change.after) == ("book", "lent_to", "Kim")


async def test_a_prompt_is_answered_by_the_pages_model(tmp_path: Path) -> None:
    recipe = recipe_with(tmp_path, "model", models={"judge": "example/small"})
    settings = recipe.models.judge
    assert settings.path == "in process"
    model = open_adapter(settings)
    asked = ChatRequest(
        settings.name, (ChatMessage(role="user", content="Hello there."),), None, (), (), 0
    )
    assert (await model.send(asked)).text == "Hello there."
    with pytest.raises(ReplyError, match="answers in words only"):
        await model.send(asked._replace(schema={}))
    assert read_model("other/small").path == "litellm"


def test_another_content_of_the_file_is_another_build_and_a_wrong_file_a_line_of_the_recipe(
    tmp_path: Path,
) -> None:
    from callwright.flows.run.plan import build_key

    first = recipe_with(tmp_path, "kind")
    (tmp_path / "own.py").write_text(code_of("kind") + "\n# A remark.\n")
    second = parse_recipe(
        unmeasured_settings_in_recipe(**SMALL, extensions=["own.py:FAMILY"]), tmp_path, "small"
    )
    assert build_key(first, []) != build_key(second, [])
    (tmp_path / "own.py").write_text("FAMILY = 1 / 0\n")
    with pytest.raises(
        ConfigurationError,
        match=r"extensions\[0\]: .*own.py: running this file raised ZeroDivisionError.*own.py:1",
    ):
        parse_recipe(
            unmeasured_settings_in_recipe(**SMALL, extensions=["own.py:FAMILY"]), tmp_path, "small"
        )


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (
            "    1 / 0",
            r"Your stage 'thanks' \(.*own.py:20\) raised ZeroDivisionError: division by zero",
        ),
        slow(
            "    return 3",
            r"Your stage 'thanks' \(.*own.py:10\) raised TypeError: it gave a int; the stage"
            r" 'thanks' must give a",
        ),
        ("    return [origin]", r"it gave a Origin; the stage 'thanks' must give a list of Sample"),
    ],
)
def test_an_author_is_told_which_stage_raised_and_where(
    tmp_path: Path, line: str, wrong: str
) -> None:
    last = "    return [derivation.source"
    (tmp_path / "own.py").write_text(
        code_of("kind").replace(last, f"{line}\n{last}"), encoding="utf-8"
    )
    stated = unmeasured_settings_in_recipe(
        **SMALL | {"samples": {"perfect": 2, "example": 1}}, extensions=["own.py:FAMILY"]
    )
    settings = settings_of(tmp_path / "home")
    report = build(parse_recipe(stated, tmp_path, "small"), settings)
    assert report.landed == 2
    [failure] = warehouse_of(settings).rows("select reason from failures")
    assert re.search(wrong, failure["reason"])


def kept_sentences(settings: Settings) -> list[str]:
    """What reviewers are told of each sample that waits for them."""
    warehouse = warehouse_of(settings)
    asked = warehouse.rows(
        "select * from review_queue where kind = 'sample_review' order by subject"
    )
    return [task.data()["failed"] for task in tasks_for("sample_review", warehouse, "zh", asked)]


def test_the_pages_check_runs_last_and_what_it_doubts_is_shown_in_reviews_and_counted(
    tmp_path: Path,
) -> None:
    settings = settings_of(tmp_path / "home")
    report = build(recipe_with(tmp_path, "check", samples={"perfect": 6}), settings)
    warehouse = warehouse_of(settings)
    found = warehouse.rows(
        "select decision, doubts, version from verdicts where check_name = 'example'"
    )
    requests = warehouse.rows("select request from samples")
    impolite = sum("please" not in row["request"].lower() for row in requests)
    assert 0 < impolite == sum(row["decision"] == "unproved" for row in found)
    told = [one for one in kept_sentences(settings) if "The user does not say please: “" in one]
    assert (len(found), len(told)) == (6, impolite)
    [counted] = warehouse.rows(
        "select alarm_share from check_precision where check_name = 'example'"
    )
    assert counted["alarm_share"] == pytest.approx(impolite / 6)
    grades = warehouse.rows(
        "select grade from sample_grades where subject in (select key from samples)"
    )
    is_open = sum(
        row["grade"] == "open" for row in grades
    )  # what the template misreads is open as well
    assert is_open >= impolite
    assert report.landed == 6 - is_open
    places = {
        row["name"]: row["position"] for row in warehouse.rows("select name, position from stages")
    }
    assert places["example"] == places["natural"] + 1


def test_a_check_that_joins_or_changes_meets_what_a_build_has_and_nothing_is_made_again(
    tmp_path: Path,
) -> None:
    settings = settings_of(tmp_path / "home")
    plain = parse_recipe(unmeasured_settings_in_recipe(**SMALL), tmp_path, "small")
    build(plain, settings)
    made = {row["key"] for row in warehouse_of(settings).rows("select key from samples")}
    first = build(recipe_with(tmp_path, "check"), settings)
    changed = code_of("check").replace('"please" not in', '"zebra" not in')
    (tmp_path / "own.py").write_text(changed, encoding="utf-8")
    second = build(
        parse_recipe(
            unmeasured_settings_in_recipe(**SMALL, extensions=["own.py:check"]), tmp_path, "small"
        ),
        settings,
    )
    warehouse = warehouse_of(settings)
    assert first.build == second.build
    assert {row["key"] for row in warehouse.rows("select key from samples")} == made
    newest = "select decision from newest_verdicts where check_name = 'example'"
    assert [row["decision"] for row in warehouse.rows(newest)] == ["unproved"] * len(made)
    assert second.landed == 0


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (
            "1 / 0",
            r"Your check 'example' \(.*own.py:\d+\) raised ZeroDivisionError: division by zero",
        ),
        (
            "yield 3",
            (
                r"Your check 'example' \(.*own.py:\d+\) gives 3; it gives findings, each made by"
                r" `unproved`"
            ),
        ),
        (
            "yield unproved('No.', DoubtedFact(kind='Not so'))",
            r"Your check 'example' .* makes a DoubtedFact that can't",
        ),
    ],
)
def test_an_author_is_told_which_check_raised_or_gave_what_and_the_build_goes_on(
    tmp_path: Path, line: str, wrong: str
) -> None:
    start = "    first = next("
    (tmp_path / "own.py").write_text(
        code_of("check").replace(start, f"    {line}\n{start}"), encoding="utf-8"
    )
    stated = unmeasured_settings_in_recipe(**SMALL, extensions=["own.py:check"])
    settings = settings_of(tmp_path / "home")
    assert build(parse_recipe(stated, tmp_path, "small"), settings).landed == 0
    failures = warehouse_of(settings).rows("select stage, error, reason from failures")
    assert {row["stage"] for row in failures} == {"example"}
    assert len(failures) == 3
    assert all(re.search(wrong, row["reason"]) for row in failures)


def test_a_check_that_cannot_stand_in_the_table_is_a_line_of_the_recipe(tmp_path: Path) -> None:
    for old, new, wrong in (
        ('"example"', '"land"', "'land' can't be its name"),
        ('"impolite"', '"blank"', "the doubt 'blank' has another sentence already"),
        ("{words}", "{wrods}", "has a sentence for 'impolite' that can't be filled"),
    ):
        (tmp_path / "own.py").write_text(code_of("check").replace(old, new), encoding="utf-8")
        with pytest.raises(ConfigurationError, match=wrong):
            parse_recipe(
                unmeasured_settings_in_recipe(**SMALL, extensions=["own.py:check"]),
                tmp_path,
                "small",
            )


def test_the_test_that_init_writes_beside_a_check_passes_and_stands_on_the_page(
    tmp_path: Path,
) -> None:
    page = (TOP / "docs" / "extending" / "check.md").read_text(encoding="utf-8")
    run_here("init", str(tmp_path), "--check", "mine", home=tmp_path)
    written = (tmp_path / "test_mine.py").read_text(encoding="utf-8")
    assert re.sub(r"\bmine\b", "example", written) in page
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in ran.stdout, ran.stdout
