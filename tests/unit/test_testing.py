"""The test kit: what is written down for a test is taken as it is meant, and what does not hold
is a sentence.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright.flows.scaffolds import check as own_check
from callwright.flows.scaffolds import environment, kind, model
from callwright.generators.environments.protocol import CallResponse, Environment
from callwright.generators.stages import StageContext
from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.models import read_model
from callwright.testing import (
    ScriptedModel,
    ask_world,
    check_adapter,
    make_sample,
    make_tool,
    run_check,
    run_stages,
)
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.grounding import check_grounding
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.validators.checks.wording import MessageFit, check_message_fit
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Call, Derivation, DoubtedFact, Message, Sample, UserTurn

TABLE = make_tool(
    "book_table",
    people={"type": "integer"},
    area={"enum": ["inside", "terrace"]},
    required=["people"],
)
DUE = {"book_table": {"people": 4}}


def world(**settings: object) -> Environment:
    stated = environment.Settings.model_validate({"environment": "example", **settings})
    return environment.WORLD.open(stated, Path(), str)


def test_a_sample_is_a_line_with_evidence_for_what_is_said() -> None:
    sample = make_sample([TABLE], "A table for 4 people.", DUE)
    [call] = sample.gold
    [evidence] = call.evidence
    assert (evidence.argument, evidence.quote, evidence.start) == ("people", "4", 12)
    assert run_check(check_grounding, sample, [TABLE]).decision == "proved"
    assert make_sample([TABLE], "A song.", kind="irrelevant").gold == ()


def test_a_check_that_does_not_apply_and_a_doubt_without_a_sentence_are_told() -> None:
    @rule("odd", "1", "Is it odd?")
    def check_odd(_sample: Sample, _context: StageContext) -> Iterator[Finding]:
        yield unproved("It is.", DoubtedFact(kind="oddly"))

    sample = make_sample([TABLE], "A table for 4.", DUE)
    with pytest.raises(
        RecordError, match=r"'odd' .+ has no sentence for its doubt 'oddly'; add it to `doubts`"
    ):
        run_check(check_odd, sample)
    with pytest.raises(AssertionError, match="'example' does not apply to this sample"):
        run_check(own_check.check, sample.with_changes(language="zh"))


def test_a_model_says_what_a_test_wrote_down_for_it() -> None:
    asked = UserTurn(
        text="Book what Anna texted me on Slack.",
        external=Message(app="Email", text="The Blue Boat."),
    )
    chat = ScriptedModel({"judge_message": [MessageFit(reason="It is by Anna.", fits=False)]})
    verdict = run_check(check_message_fit, make_sample([TABLE], asked, DUE), [TABLE], chat)
    assert [doubt.kind for doubt in verdict.doubts] == ["judged_message"]
    assert chat.left == {}
    with pytest.raises(AssertionError, match="no line left for 'judge_message'"):
        run_check(check_message_fit, make_sample([TABLE], asked, DUE), [TABLE], chat)


def test_the_stages_of_a_kind_are_run_one_after_the_other() -> None:
    source = make_sample([TABLE], "A table for 4.", DUE)
    derivation = Derivation(transform="example", source=source, seed=1)
    [made] = run_stages(kind.FAMILY, derivation, [TABLE])
    assert isinstance(made, Sample)
    assert re.fullmatch(r"A table for 4\. (Thanks!|Thank you!|Many thanks\.)", made.request)


def test_a_world_is_asked_for_what_its_tools_take() -> None:
    found = ask_world(world(), "find_books", title="Solaris").response
    assert found == [{"book_id": "b2", "title": "Solaris", "lent_to": ""}]
    with pytest.raises(
        AssertionError, match="has no tool 'find_song'; its tools are find_books, lend_book"
    ):
        ask_world(world(), "find_song")
    with pytest.raises(AssertionError, match="does not take these arguments"):
        ask_world(world(), "find_books", author="Lem")


def test_a_world_that_answers_otherwise_the_next_time_is_told_of() -> None:
    class Fickle:
        name, tools, links = "example", world().tools, ()
        count = 0

        async def answer(self, _call: Call) -> CallResponse:
            self.count += 1
            return CallResponse(self.count)

    with pytest.raises(
        AssertionError,
        match=r"is answered CallResponse.response=1.*, and then CallResponse.response=2",
    ):
        ask_world(Fickle(), "find_books", title="Solaris")


def test_an_adapter_keeps_the_protocol_or_is_told_how_not() -> None:
    assert check_adapter(model.open_model(read_model("template/v1"))).text == "Hello there."

    class Talking(model.Repeating):
        async def send(self, _request: ChatRequest) -> RawReply:
            return RawReply("Well.")

    with pytest.raises(AssertionError, match="An answer by schema is no JSON"):
        check_adapter(Talking())


def test_the_kit_needs_no_test_runner() -> None:
    source = Path(run_check.__code__.co_filename).read_text(encoding="utf-8")
    assert "import pytest" not in source
