"""What many requests have in common stands first in each prompt, for providers keep a beginning
that they have read before.
"""

import re
from itertools import takewhile
from pathlib import Path

import pytest
from jinja2 import Environment, meta

from callwright.generators.transcripts import conversation_text
from callwright.llm.chat import Prompt
from callwright.llm.prompts import render
from callwright.warehouse.records import CallTurn, ReplyTurn, UserTurn

ROOT = Path(__file__).parents[2]
SWITCHES = {
    "language": ("en", "zh"),
    "format": ("json", "yaml"),
    "setting": ("call", "plan", "conversation"),
    # one task of those that a prompt words: what it is, not what is in it
    "intent": ("request", "switch", "thank"),
    "purpose": ("order", "failure", "urge"),
    "transform": ("mSv", "SO_case1", "SO_case2"),
    "manner": ("bare", "sentence", "bare"),
    "named": ("", "yes", ""),
    "bends": ("", "yes", ""),
}
TEMPLATES = [
    path
    for folder in ("generators", "validators")
    for path in sorted((ROOT / folder).rglob("prompts/*.j2"))
]
TAGGED = re.compile(r"<([a-z]+)>.*</\1>")
VALUE = re.compile(r"^Q-\w+$", re.MULTILINE)  # a message that is nothing but a value
BLOCK = re.compile(
    r"(?:\A|<(conversation|tools|details|offered|parameters)>\n)(?:[^\n]*\n)*?"
    r"</(?:conversation|tools|details|offered|parameters)>"
)


def variables_of(path: Path) -> set[str]:
    environment = Environment(autoescape=True)
    environment.filters["json"] = str
    for name in ("language_name", "examples", "given", "answered"):
        environment.filters[name] = str
    return meta.find_undeclared_variables(environment.parse(path.read_text(encoding="utf-8")))


class FieldWords(dict):
    """Stands for any record: each of its fields is a word that nobody else has, and all of them
    are its JSON.
    """

    def __init__(self, mark: str, switches: dict[str, str]) -> None:
        super().__init__(mark=mark)
        self.mark, self.switches = mark, switches

    def __getattr__(self, field: str) -> str:
        return self.switches.get(field) or f"{self.mark}-{field}"


def filled(path: Path, mark: str, switches: dict[str, str], **same: object) -> str:
    """The prompt with values that only `mark` has, as one text."""
    records = {"tool", "plan", "named", "described", "parameterised", "change", "slot"}
    records |= {"app", "entity"}
    if path.stem == "word_agent_turn":
        intents = {"request": "inform", "switch": "refuse", "thank": "acknowledge"}
        switches = switches | {"intent": intents[switches["intent"]]}
    values: dict[str, object] = {
        name: (
            FieldWords(f"{mark}{name}", switches)
            if name in records
            else switches.get(name, f"{mark}-{name}")
        )
        for name in variables_of(path)
    }
    if "lines" in values:
        values["lines"] = [f"{mark}-line"]
    if path.stem == "think_up_values":
        name = f"{mark}-name"
        tool = {"name": name, "description": f"{mark}-told", "properties": {name: {}}}
        values |= {"names": [name], "tool": tool}
    if "tasks" in values:
        task = {"task": f"{mark}-task", "lines": [f"{mark}-line"], "details": []}
        values["tasks"] = [task]
    return text_of(
        render(".".join(path.parent.relative_to(ROOT).parts), path.stem, **{**values, **same})
    )


def text_of(prompt: Prompt) -> str:
    return "\n".join(f"{message.role}: {message.content}" for message in prompt.messages)


def shared_beginning(first: str, second: str) -> str:
    return "".join(
        one
        for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    )


def switched() -> list[dict[str, str]]:
    tripled = [(*values, values[0])[:3] for values in SWITCHES.values()]
    return [dict(zip(SWITCHES, values, strict=True)) for values in zip(*tripled, strict=True)]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_nothing_that_all_requests_have_in_common_stands_behind_what_differs(path: Path) -> None:
    for switches in switched():
        first, second = filled(path, "Q", switches), filled(path, "Z", switches)
        start = first.rfind("\n", 0, len(shared_beginning(first, second))) + 1
        left = TAGGED.sub("", BLOCK.sub("", first[start:].replace("user: ", "")))
        left = VALUE.sub("", left)
        # lines of a task, with the names of what they say
        left = re.sub(r"\S*Q\S*|\b(?:\d+|for|any|new|not|old|value)\b|\W", "", left)
        assert not left, f"{path.stem} repeats after the first value: {left!r}"


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in TEMPLATES
        if "{{ tools | json }}" in path.read_text(encoding="utf-8").partition("--- system")[2]
    ],
    ids=lambda path: path.stem,
)
def test_requests_about_the_same_tools_share_them(path: Path) -> None:
    switches = switched()[0]
    first, second = (filled(path, mark, switches, tools=["the same tools"]) for mark in "QZ")
    assert '<tools>["the same tools"]</tools>' in shared_beginning(first, second)


def test_a_later_turn_of_a_conversation_shares_all_that_came_before() -> None:
    turns = (
        UserTurn(text="A table at Lindenhof."),
        CallTurn(calls=()),
        ReplyTurn(text="For how many?"),
        UserTurn(text="4."),
    )
    first, second = (
        text_of(
            render(
                "callwright.validators.prompts",
                "call_zero_shot",
                tools=[],
                language="en",
                conversation=conversation_text(some),
            )
        )
        for some in (turns[:1], turns)
    )
    assert second.startswith(first.removesuffix("\n</conversation>"))


def test_one_system_message_serves_all_records_of_a_language() -> None:
    for path in TEMPLATES:
        if "format" in variables_of(path) or path.stem == "answer_as_candidate":
            continue  # these show the tools there, behind the rules
        for switches in switched():
            first, second = (filled(path, mark, switches).partition("\nuser: ")[0] for mark in "QZ")
            assert first == second, path.stem
