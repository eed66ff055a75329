"""Drafts of sentences: a skeleton of the document's names, or a model's, asked once more for
what can't be used.
"""

from pathlib import Path

import pytest

from callwright.flows.draft_sentences import (
    DraftedFile,
    draft_by_model,
    draft_entries,
    draft_skeleton,
    file_for,
    written_draft,
)
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe.own_sentences import check_sentences
from callwright.generators.sentences.drafting import AskedParameter, SaidValue, SentenceDraft
from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.models import PROVIDERS, Provider
from callwright.llm.tool_sentences import SentenceFile
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import CallwrightError, ConfigurationError, TransientError
from callwright.warehouse.records import Tool
from tests.support.flows.small_builds import settings_of


def tool(name: str, /, description: str, **properties: object) -> Tool:
    parameters = {"type": "object", "properties": properties}
    return Tool(name=name, description=description, category="Gym", parameters=parameters)


BOOK = tool(
    "book_class", "Book a place (in a class).", course={"type": "string"}, towel={"type": "boolean"}
)
FIND = tool("find_member", "Find a member", surname={"type": "string"})
TOOLS = (BOOK, FIND)
GOOD_BOOK = SentenceDraft(
    requests=["book a place [in {course}] [{towel}]", "I want to join {course}."],
    says=[
        SaidValue(parameter="towel", value="true", words="with a towel"),
        SaidValue(parameter="towel", value="false", words="without a towel"),
    ],
    questions=[AskedParameter(parameter="course", question="Which class?")],
)
GOOD_FIND = SentenceDraft(requests=["look up a member [called {surname}]"])


def problems(text: str, tools: tuple[Tool, ...] = TOOLS) -> list[str]:
    return [
        str(one)
        for one in check_sentences([SentenceFile(file="x", language="en", text=text)], tools)
    ]


def test_a_skeleton_has_one_sentence_a_tool_that_can_be_used() -> None:
    drafted = draft_skeleton(TOOLS, "en", Path("gym.en.yaml"), "gym")
    assert problems(drafted.text) == []
    assert (drafted.tools, drafted.written, drafted.left_out) == (2, 2, ())
    assert '    - "book a place[, course {course}][, {towel}]"' in drafted.text
    assert '    towel: {true: "with towel", false: "without towel"}' in drafted.text
    assert "This is a skeleton" in drafted.text


async def drafted(
    *lines: SentenceDraft | CallwrightError,
) -> tuple[str, dict[str, str], ScriptedModel]:
    chat = ScriptedModel({"draft_sentences": lines})
    entries, reasons = await draft_entries(TOOLS, "en", chat, SilentProgress())
    return written_draft(TOOLS, entries, reasons, "en", ["# a head"]).text, reasons, chat


async def test_a_models_draft_becomes_a_file() -> None:
    text, reasons, chat = await drafted(GOOD_BOOK, GOOD_FIND)
    assert (problems(text), reasons, len(chat.asked)) == ([], {}, 2)
    assert text.splitlines()[:5] == [
        "# a head",
        "book_class:",
        "  requests:",
        '    - "book a place [in {course}] [{towel}]"',
        '    - "I want to join {course}."',
    ]
    assert '    course: ["Which class?"]' in text


BAD = {
    "no template": (
        SentenceDraft(requests=["look up [{surname}"]),
        "the brackets (), [] and {} do not match",
    ),
    "a strange slot": (
        SentenceDraft(requests=["look up [{name}]"]),
        "find_member has no parameter 'name'",
    ),
    "the sentence of another tool": (
        SentenceDraft(requests=["look up [{surname}]", "I want to join {surname}."]),
        "it reads the same as a sentence of book_class",
    ),
}


@pytest.mark.parametrize(("draft", "reason"), BAD.values(), ids=BAD)
async def test_what_can_not_be_used_is_asked_for_once_more_with_the_reason(
    draft: SentenceDraft, reason: str
) -> None:
    text, _, chat = await drafted(GOOD_BOOK, draft, GOOD_FIND)
    assert problems(text) == []
    assert reason in chat.asked[2].messages[-1].content
    text, _, chat = await drafted(GOOD_BOOK, draft, draft)
    assert len(chat.asked) == 3
    assert reason in next(
        line for line in text.splitlines() if line.startswith("# find_member was left out: ")
    )
    assert problems(text) == []
    assert "\nfind_member:" not in text


async def test_a_model_that_is_away_ends_the_draft() -> None:
    with pytest.raises(TransientError, match="away"):
        await drafted(GOOD_BOOK, TransientError("It is away."))


class Answering:
    """A model that drafts the same for each tool, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def send(self, request: ChatRequest) -> RawReply:
        self.asked += 1
        draft = (
            GOOD_BOOK
            if '"book_class"' in request.messages[-1].content.partition("<others>")[0]
            else GOOD_FIND
        )
        return RawReply(draft.model_dump_json(), None, 10, 10, 0.5)

    async def close(self) -> None:
        """Nothing to give back."""


async def test_what_was_paid_for_is_not_asked_again(tmp_path: Path) -> None:
    model, settings = Answering(), settings_of(tmp_path)

    async def draft(name: str) -> DraftedFile:
        return await draft_by_model(
            TOOLS, "en", Path("gym.en.yaml"), "gym", name, settings, SilentProgress()
        )

    with PROVIDERS.including(Provider("answering", lambda _settings: model)):
        told = [await draft("answering/x"), await draft("answering/x")]
    assert [(one.calls, one.cost, one.written) for one in told] == [(2, 1.0, 2), (0, 0.0, 2)]
    assert model.asked == 2
    with pytest.raises(ConfigurationError, match="template/v1 can't draft sentences"):
        await draft("template/v1")


def test_a_file_is_not_written_over_and_its_name_says_the_language(tmp_path: Path) -> None:
    (tmp_path / "gym.en.yaml").touch()
    with pytest.raises(ConfigurationError, match="exists already"):
        file_for("gym", "en", tmp_path / "gym.en.yaml")
    with pytest.raises(
        ConfigurationError, match=r"must say the language of the sentences: gym\.en\.yaml"
    ):
        file_for("gym", "en", tmp_path / "gym.yaml")
    with pytest.raises(ConfigurationError, match="no words of its own in 'fr'"):
        file_for("gym", "fr", None)
    assert file_for("gym", "zh", None) == Path("gym.zh.yaml")
