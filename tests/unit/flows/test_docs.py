"""The docs keep up with the code: every setting, table and view is told of, and every query
runs.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from callwright.flows.recipe import (
    Candidate,
    CatalogTools,
    Checks,
    DomainTools,
    ImportedTools,
    OwnTools,
    Recipe,
    ReviewRules,
    Roles,
    Schedule,
    SeedTools,
    parse_recipe,
    read_recipe_file,
)
from callwright.flows.recipe.own_sentences import check_sentences
from callwright.flows.recipe.parts import StatedTool
from callwright.flows.settings import QUIET
from callwright.flows.stages import all_stages
from callwright.generators.catalogs import FORMATS
from callwright.generators.catalogs.openapi import read_openapi
from callwright.llm.models import ModelSettings
from callwright.llm.template.defects import DEFECTS
from callwright.llm.tool_sentences import SentenceFile
from callwright.validators.metrics.ratios import share_interval
from callwright.warehouse.comments import list_views
from callwright.warehouse.exports.formats import EXPORTS
from callwright.warehouse.records import Tool
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import run_here

DOCS = Path(__file__).parents[3] / "docs"
AUDITS = DOCS / "audits"
PARTS = (
    Recipe,
    SeedTools,
    ImportedTools,
    CatalogTools,
    DomainTools,
    OwnTools,
    StatedTool,
    Roles,
    Candidate,
    Checks,
    ReviewRules,
    Schedule,
    ModelSettings,
)
FIELDS = {field.alias or name for part in PARTS for name, field in part.model_fields.items()}
SOURCE = (DOCS.parent / "flows" / "settings.py").read_text(encoding="utf-8")
VARIABLES = set(
    re.findall(r'(?:environ(?:\.get)?[\[(]|stated\.get\(|number\(|size_mb\()"([A-Z_]+)"', SOURCE)
) | set(QUIET)
OWN_VARIABLES = {"PREFECT_HOME", "PREFECT_LOGGING_LEVEL"}  # set by callwright for its own processes


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page(name), re.DOTALL)


def test_every_setting_variable_and_defect_is_told_of() -> None:
    told = page("recipes.md")
    assert {name for name in FIELDS if not re.search(rf"`{name}[`:]", told)} == set()
    assert {name for name in VARIABLES - OWN_VARIABLES if f"`{name}`" not in told} == set()
    assert {name for name in DEFECTS if f"`{name}`" not in told} == set()
    assert len(FIELDS) > len(VARIABLES) > len(OWN_VARIABLES)


# what examples in docs/recipes.md name
OWN_FILES = {
    "cities.csv": "city\nUlm\n",
    "accounts.csv": "number\n4711\n",
    "requests.jsonl": (
        '{"request": "Rain in Ulm?", "tool": "get_weather", "arguments": {"city": "Ulm"}}\n'
    ),
}
SENTENCES = [one for one in blocks("recipes.md", "yaml") if "requests:" in one]
OWN_FILES |= {"gym.en.yaml": SENTENCES[0]}


@pytest.mark.parametrize(
    "example", [one for one in blocks("recipes.md", "yaml") if one not in SENTENCES]
)
def test_every_example_of_a_recipe_is_valid(example: str, tmp_path: Path) -> None:
    for name, text in OWN_FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("create table product as select 'tea' as name, true as is_sold")
    given: dict[str, Any] = {
        "name": "example",
        "tools": [{"seed": "all"}],
        "samples": {"perfect": 1},
    }
    assert parse_recipe({**given, **yaml.safe_load(example)}, tmp_path, "recipes.md")


def test_the_example_of_sentences_has_no_mistakes() -> None:
    kinds = {"course": "string", "day": "string", "guests": "integer", "towel": "boolean"}
    parameters = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in kinds.items()},
    }
    tool = Tool(
        name="book_class", description="Book a class.", category="Gym", parameters=parameters
    )
    single, in_steps = (
        SentenceFile(file="x.en.yaml", language="en", text=text) for text in SENTENCES
    )
    assert check_sentences([single], [tool]) == ()
    assert (
        check_sentences(
            [in_steps], read_openapi(DOCS.parent / "recipes/documents/workshop.yaml").tools
        )
        == ()
    )


@pytest.mark.parametrize("example", blocks("sources.md", "yaml"))
def test_every_example_of_a_source_passes_recipe_check(example: str, tmp_path: Path) -> None:
    for name in re.findall(r"from: ([\w./]+)", example):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    given = {"name": "example", "tools": "[{seed: all}]", "samples": "{perfect: 1}"}
    lacking = [
        f"{key}: {value}"
        for key, value in given.items()
        if not re.search(rf"^{key}:", example, re.MULTILINE)
    ]
    path = tmp_path / "recipe.yaml"
    path.write_text("\n".join((*lacking, example)), encoding="utf-8")
    assert read_recipe_file(path, with_files=True).problems == ()


def test_the_defaults_told_are_the_defaults() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", page("recipes.md"), re.MULTILINE))
    assert set(told) >= {
        "seed",
        "candidates_per_sample",
        "shard_size",
        "timeout",
        "concurrency",
        "attempts",
        "patience",
    }
    fields = {**ModelSettings.model_fields, **Recipe.model_fields}
    for name, value in told.items():
        if name in fields:
            assert fields[name].default == float(value), name


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return Warehouse(tmp_path_factory.mktemp("docs") / "warehouse.duckdb", patience=5)


def test_every_table_and_view_is_told_of(warehouse: Warehouse) -> None:
    names = {
        row["name"]
        for row in warehouse.rows("select table_name as name from information_schema.tables")
    } - {*list_views("internal")}
    assert {name for name in names if f"`{name}`" not in page("sql.md")} == set()


@pytest.mark.parametrize("query", blocks("sql.md", "sql"))
def test_every_query_runs_also_where_there_is_nothing_yet(warehouse: Warehouse, query: str) -> None:
    assert isinstance(warehouse.rows(query), list)


def test_every_check_is_told_of() -> None:
    checks = {stage.name for stage in all_stages() if stage.is_check}
    assert {name for name in checks if f"**{name}**" not in page("checks.md")} == set()


def test_each_word_of_the_glossary_is_in_the_code_or_the_sql() -> None:
    folders = ("annotation", "flows", "generators", "language", "llm", "validators", "warehouse")
    top = DOCS.parent
    sources = [
        path for one in folders for form in ("*.py", "*.sql") for path in (top / one).rglob(form)
    ]
    code = " ".join(path.read_text(encoding="utf-8") for path in sources).replace("_", "").lower()
    words = re.findall(r"^\| ([a-z_]+) \|", page("glossary.md"), re.MULTILINE)
    assert len(words) >= 40
    assert [word for word in words if word.replace("_", "") not in code] == []


def test_lists_for_people_name_all_that_there_is(tmp_path: Path) -> None:
    """In help, README and docs; what other packages add is told by `callwright doctor`."""
    commands = {
        name: run_here(*name.split(), "--help", home=tmp_path).stdout
        for name in ("export", "tools import")
    }
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    own = {name for name in EXPORTS.names if name not in {one.name for one in EXPORTS.plugins()}}
    assert {name for name in own if not re.search(rf"\b{name}\b", commands["export"])} == set()
    assert {name for name in own if f"`{name}`" not in page("exports.md")} == set()
    assert {
        name for name in FORMATS.names if not re.search(rf"\b{name}\b", commands["tools import"])
    } == set()
    assert {
        name
        for name in FORMATS.names
        if f"`{name}`" not in readme and f"import {name}" not in readme
    } == set()
    pages = {path.relative_to(DOCS.parent).as_posix() for path in DOCS.glob("*.md")}
    assert {path for path in pages if f"({path})" not in readme} == set()


Findings = list[dict[str, Any]]


def audited(name: str) -> dict[str, Findings]:
    """The published findings of a data set, in the parts that have tables of their own."""
    lines = (AUDITS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found, parts = [json.loads(line) for line in lines], defaultdict(list)
    for one in found:
        turns = "several" if one["item"].startswith("multi_turn") else "single"
        parts[f"({name}.md), {turns} turns" if name == "bfcl" else f"({name}.md)"].append(one)
    return parts


def share_of_right(findings: Iterable[bool]) -> str:
    right = list(findings)
    low, high = share_interval(sum(right), len(right))
    return f"{sum(right)} of {len(right)}: {sum(right) / len(right):.0%} ({low:.0%}–{high:.0%})"


def is_right(finding: dict[str, Any]) -> bool:
    return set(finding["verdicts"]) == {"right"}


def verdicts_of(reader: int, findings: Findings) -> str:
    counts = Counter(one["verdicts"][reader] for one in findings if len(one["verdicts"]) > reader)
    words = ("right", "arguable", "wrong")
    return " / ".join(str(counts[word]) for word in words) if counts else "–"


@pytest.mark.parametrize("name", sorted(path.stem for path in AUDITS.glob("*.jsonl")))
def test_the_tables_of_audits_say_what_their_findings_say(name: str) -> None:
    page, index = [(AUDITS / f"{one}.md").read_text(encoding="utf-8") for one in (name, "README")]
    for part, findings in audited(name).items():
        sorts, causes = defaultdict(list), defaultdict(list)
        for one in findings:
            sorts[one["sort"]].append(is_right(one))
            causes[one["cause"]].append(is_right(one))
        rows = {f"`{sort}`": right for sort, right in sorts.items()}
        rows["all"] = [*chain(*sorts.values())]
        due = [f"| {row} | {share_of_right(right)} |" for row, right in rows.items()]
        assert [row for row in due if row not in page] == []
        severities = Counter(one["severity"] for one in findings)
        [line] = [row for row in index.splitlines() if row.startswith("| [") and part in row]
        cells = [cell.strip() for cell in line.split("|")[3:-1]]
        assert cells[:2] == [str(severities[one]) for one in ("error", "warning")]
        assert cells[3:] == [
            *(verdicts_of(reader, findings) for reader in (0, 1)),
            share_of_right(map(is_right, findings)),
            share_of_right(map(all, causes.values())),
        ]


def test_the_precision_that_audits_show_is_that_of_the_published_findings() -> None:
    read, right = Counter[str](), Counter[str]()
    for path in AUDITS.glob("*.jsonl"):
        for one in chain(*audited(path.stem).values()):
            read[one["sort"]] += 1
            right[one["sort"]] += is_right(one)
    text = (DOCS.parent / "validators" / "audit" / "measured.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == {
        sort: {"judged": read[sort], "confirmed": right[sort]} for sort in read
    }
