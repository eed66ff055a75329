"""pytest's plug-in in sessions of its own: samples as cases, mistakes told, nothing loaded where
no test is marked.
"""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import orjson
import pytest

import callwright
from callwright.testing import make_sample, make_tool
from callwright.warehouse.exports.formats import record_line
from tests.support.flows.small_builds import environment
from tests.support.sampling import slow

MARKED = """
from pathlib import Path
import pytest

@pytest.mark.callwright_release({stated})
def test_marked(callwright_sample):
    assert callwright_sample.calls, "nothing is due"
"""


COMPARED = """
import pytest

def agent(messages, tools):
    assert [one["role"] for one in messages if one["role"] != "system"] == ["user"]
    assert tools and all(one["type"] == "function" for one in tools)
    return {answer}

@pytest.mark.callwright_release("asked")
def test_marked(callwright_sample):
    verdict = callwright_sample.compare(agent(callwright_sample.prompt, callwright_sample.openai_tools))
    assert verdict.is_right, verdict.reason
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with the release v1, which was exported, too."""
    folder = tmp_path_factory.mktemp("cases")
    recipe = callwright.make_recipe(
        "small", tools=[{"seed": ["Weather"]}], samples={"perfect": 6, "irrelevant": 2}
    )
    callwright.build(recipe, home=folder)
    callwright.create_release("v1", splits={"train": 0.5, "test": 0.5}, home=folder).export(
        "records", folder / "v1"
    )
    table = make_tool("book_table", required=["restaurant", "day"], restaurant=None, day=None)
    sample = make_sample(
        [table], "Book a table at Lindenhof.", {"book_table": {"restaurant": "Lindenhof"}}
    )
    (folder / "asked").mkdir()
    line = record_line(sample.with_changes(kind="imperfect"), {table.key: table})
    (folder / "asked" / "records.jsonl").write_bytes(orjson.dumps(line))
    return folder


def session(home: Path, folder: Path, text: str, *words: str) -> "subprocess.CompletedProcess[str]":
    (folder / "test_cases.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-markers\nfilterwarnings = error\n", encoding="utf-8"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        *words,
    ]
    return subprocess.run(
        command, cwd=folder, env=environment(home), capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("stated", "split", "kinds"),
    [
        ('"v1"', "", ("perfect", "irrelevant")),
        ('Path({home!r}) / "v1", split="test", kinds=["perfect"]', "test", ("perfect",)),
    ],
)
def test_each_sample_is_a_case_by_its_key(
    home: Path, tmp_path: Path, stated: str, split: str, kinds: tuple[str, ...]
) -> None:
    text = MARKED.format(stated=stated.format(home=str(home)))
    done = session(home, tmp_path, text, "-rA", "--junit-xml", "cases.xml")
    wanted = [
        kept
        for kept in callwright.load_release("v1", home=home)
        if split in ("", kept.split) and kept.sample.kind in kinds
    ]
    cases = {
        (case.get("name") or ""): (
            case.find("failure") is None,
            {one.get("name"): one.get("value") for one in case.iter("property")},
        )
        for case in (ET.parse(tmp_path / "cases.xml").getroot().iter("testcase"))  # noqa: S314 - pytest's own
    }
    assert cases == {
        f"test_marked[{kept.key}]": (
            bool(kept.calls),
            {"kind": kept.sample.kind, "request": kept.request},
        )
        for kept in wanted
    }
    failing = [kept for kept in wanted if not kept.calls]
    assert done.returncode == int(bool(failing)), done.stdout + done.stderr
    assert all(f"kind: irrelevant\nrequest: {kept.request}" in done.stdout for kept in failing)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ('"v9"', "test_marked, callwright_release: No release is named 'v9'"),
        slow('"v1", split="dev"', "The release has no split 'dev'; it has train, test"),
        slow(
            '"v1", kinds=["perfekt"]',
            "The release has no kind 'perfekt'; it has irrelevant, perfect",
        ),
        slow('Path("nowhere")', "has no records"),
        slow("", "missing 1 required positional argument: 'name'"),
    ],
)
def test_a_mark_that_names_nothing_is_an_error_of_one_sentence(
    home: Path, tmp_path: Path, stated: str, said: str
) -> None:
    done = session(home, tmp_path, MARKED.format(stated=stated))
    assert done.returncode == 2, done.stdout
    assert said in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ('"On which day shall I book it?"', 0),
        ('[("book_table", {{"restaurant": "Lindenhof"}})]', 0),
        ('"Could you tell me more?"', 1),
        ('[("book_table", {{"restaurant": "Lindenhof", "day": "today"}})]', 1),
        ('[("book_table", 7)]', 1),
    ],
)
def test_an_agent_is_asked_what_the_user_asks_and_may_ask_back(
    home: Path, tmp_path: Path, answer: str, code: int
) -> None:
    text = COMPARED.replace("{answer}", answer.replace("{{", "{").replace("}}", "}"))
    place = f'Path({str(home)!r}) / "asked"'
    text = "from pathlib import Path\n" + text.replace('"asked"', place)
    done = session(home, tmp_path, text)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("The answer is wrong" in done.stdout or "no call" in done.stdout) is bool(code)


def test_a_test_that_takes_a_sample_without_a_mark_is_told_how(home: Path, tmp_path: Path) -> None:
    done = session(home, tmp_path, "def test_bare(callwright_sample):\n    pass\n")
    assert (
        "test_bare takes callwright_sample: mark it with @pytest.mark.callwright_release('v1')."
        in done.stdout
    )
