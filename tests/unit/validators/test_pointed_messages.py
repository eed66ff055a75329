"""Messages that are not the ones that the user points to: by another app, or signed by somebody
else.
"""

from callwright.llm.template.messages import signature_of
from callwright.testing import ScriptedModel, context_of
from callwright.validators.checks.table import all_checks, settled_claims
from callwright.validators.checks.wording import MessageFit, check_message_fit, points_to_message
from callwright.warehouse.records import CallTurn, GoldCall, Language, Message, Sample, UserTurn
from tests.support.conversational import template_context


def pointing(text: str, app: str, message: str, language: Language = "en") -> Sample:
    call = GoldCall(tool="book_table", arguments={"restaurant": "Casa Verde"})
    turns = (UserTurn(text=text, external=Message(app=app, text=message)), CallTurn(calls=(call,)))
    return Sample(
        kind="sQsA_external", language=language, category="Food", candidates=("k",), turns=turns
    )


HERE = "You should try Casa Verde."


async def test_a_judge_reads_every_message_that_the_words_point_to() -> None:
    sample = pointing("Book a table at the place in Anna's email.", "Email", f"{HERE}\n\nBob")
    assert points_to_message(sample)
    for fits, decision in ((True, "proved"), (False, "unproved")):
        chat = ScriptedModel({"judge_message": [MessageFit(reason="So.", fits=fits)]})
        (verdict,) = await check_message_fit(sample, context_of({}, chat))
        assert (verdict.decision, chat.left) == (decision, {})
    (verdict,) = await check_message_fit(sample, template_context())
    assert verdict.decision == "unproved"


async def test_what_the_judge_finds_fitting_is_a_claim_that_is_judged() -> None:
    sample = pointing("Book a table at the place in Anna's email.", "Email", f"{HERE}\n\nBob")
    chat = ScriptedModel(
        {"judge_message": [MessageFit(reason="So.", fits=True)] * 2}, name="judge/x"
    )
    verdicts = await check_message_fit(sample, context_of({}, chat))
    own = [one.with_changes(model="judge/x", by_maker=True) for one in verdicts]
    assert "message" in settled_claims(own).open
    assert (
        "message"
        not in settled_claims([one.with_changes(model="judge/x") for one in verdicts]).open
    )
    assert [stage.name for stage in all_checks() if "message" in stage.settles] == ["message_fit"]


def test_a_sentence_or_a_closing_is_no_signature() -> None:
    assert signature_of("Here it is.\nDo not lose this page!", "en") == ""
    assert signature_of("Here it is.\nBest wishes", "en") == ""
    assert signature_of("Here it is.\n— Aunt Mildred", "en") == "Aunt Mildred"
    assert signature_of("Aunt Mildred", "en") == ""
