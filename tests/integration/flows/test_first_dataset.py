"""The page for newcomers is run as it stands, command by command, in one work folder."""

import re
import shlex

import orjson
import pytest

from tests.support.flows.small_builds import TOP, run_here

PAGE = (TOP / "docs" / "first-dataset.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]
EXPORTS = "exports"
RECORDS = "exports/records/records.jsonl"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each command of the page prints, all run in order; exports go into the work folder."""
    home = tmp_path_factory.mktemp("newcomer")
    outputs: dict[str, str] = {}
    for command in COMMANDS:
        program, *words = shlex.split(command)
        assert program == "callwright"
        done = run_here(
            *(str(home / word) if word.startswith(EXPORTS) else word for word in words), home=home
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        outputs[" ".join(words)] = done.stdout
    outputs[RECORDS] = (home / RECORDS).read_text(encoding="utf-8")
    outputs[EXPORTS] = (home / EXPORTS / "openai" / "library-1.jsonl").read_text(encoding="utf-8")
    return outputs


def test_the_page_has_the_whole_way() -> None:
    steps = [" ".join(command.split()[1:3]) for command in COMMANDS]
    assert [step for step in dict.fromkeys(steps) if not step.startswith("query")] == [
        "tools import",
        "tools show",
        "recipe check",
        "estimate docs/first-dataset/recipe.yaml",
        "build docs/first-dataset/recipe.yaml",
        "review status",
        "release create",
        "export library-1",
        "check records",
    ]


def test_what_the_page_shows_is_what_is_printed(printed: dict[str, str]) -> None:
    everything = re.sub(r" +", " ", "\n".join(printed.values()))
    for block in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL):
        for line in block.splitlines():
            assert re.sub(r" +", " ", line).strip() in everything, line


def test_what_a_step_returns_is_what_the_next_one_takes(printed: dict[str, str]) -> None:
    samples = [orjson.loads(line)["sample"] for line in printed[RECORDS].splitlines()]
    paths = [sample for sample in samples if sample["kind"] == "multi_step"]
    for path in paths:
        results = [turn["results"] for turn in path["turns"] if turn["kind"] == "result"]
        calls = [call for turn in path["turns"] for call in turn.get("calls", [])]
        found = {book["book_id"] for book in results[0][0]}
        reserved = [
            one["reservation_id"] for step in results for one in step if "reservation_id" in one
        ]
        assert {
            call["arguments"]["book_id"] for call in calls if "book_id" in call["arguments"]
        } <= found
        assert [
            call["arguments"]["reservation"] for call in calls if call["tool"] == "sendReminder"
        ] == reserved
    assert max(
        len([turn for turn in path["turns"] if turn["kind"] == "calls"]) for path in paths
    ) == len(("findBooks", "reserveBook", "sendReminder"))


def test_the_export_is_read_by_openai_and_says_no_constant(printed: dict[str, str]) -> None:
    rows = [orjson.loads(line) for line in printed[EXPORTS].splitlines()]
    calls = [call["function"] for row in rows for call in row["messages"][-1].get("tool_calls", [])]
    assert {"findBooks", "bookRoom"} <= {call["name"] for call in calls}
    assert all("branch" not in orjson.loads(call["arguments"]) for call in calls)
    assert not any("the the" in str(row["messages"]) for row in rows)
