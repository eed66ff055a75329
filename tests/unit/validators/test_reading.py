"""Reading by choice: the gold among near misses, in random order, never shown as the gold."""

import re
from collections.abc import Sequence
from random import Random

import orjson
import pytest

from callwright.generators.stages import Consistency, StageContext
from callwright.llm.chat import Answer, Prompt
from callwright.testing import make_sample, make_tool, run_check
from callwright.validators.blind.choosing import Choice, check_reading, check_second_reading
from callwright.validators.blind.one_call import check_consistency, check_meaning
from callwright.validators.checks.table import all_checks, has_rest, settled_claims
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, ResultTurn, Sample, UserTurn, Verdict
from tests.support.validators.option_reader import OptionReader

PAY = make_tool(
    "pay_back", "Pay somebody money back.", payer="string", payee="string", amount="integer",
    required=["payer", "payee", "amount"],
)  # fmt: skip
ASK = make_tool(
    "ask_for_money", "Ask somebody for money.", payer="string", amount="integer", required=["payer", "amount"]
)
GOLD = {"payer": "Ines", "payee": "Tom", "amount": 20}
SAMPLE = make_sample([PAY, ASK], "Ines owes Tom 20, settle that for her.", {"pay_back": GOLD})


def calls(**arguments: object) -> list[dict[str, object]]:
    return [{"tool": "pay_back", "arguments": {**GOLD, **arguments}}]


def test_who_chooses_the_gold_alone_proves_it() -> None:
    reader = OptionReader(calls())
    verdict = run_check(check_reading, SAMPLE, [PAY, ASK], reader)
    assert verdict.decision == "proved"
    [options] = reader.shown
    assert 6 <= len(options) <= 9
    assert sum(one["calls"] == calls() for one in options) == 1
    assert calls(payer="Tom", payee="Ines") in [one["calls"] for one in options] or len(options) > 6


def test_who_chooses_another_call_says_what_differs() -> None:
    reader = OptionReader(calls())
    run_check(check_reading, SAMPLE, [PAY, ASK], reader)
    other = next(one for one in reader.shown[0] if one["calls"] and one["calls"] != calls())
    verdict = run_check(check_reading, SAMPLE, [PAY, ASK], OptionReader(other["calls"]))
    assert verdict.decision == "unproved"
    assert verdict.doubts
    assert "was chosen" in verdict.reason


def test_who_finds_none_right_or_also_another_one_proves_nothing() -> None:
    none = run_check(check_reading, SAMPLE, [PAY, ASK], OptionReader())
    assert [one.kind for one in none.doubts] == ["none_chosen"]
    both = run_check(check_reading, SAMPLE, [PAY, ASK], OptionReader(calls(), "none"))
    assert (both.decision, both.doubts[0].kind) == ("unproved", "both_meant")


@pytest.mark.parametrize("letter", ["Z", "AB", "", "the first"])
def test_a_letter_that_no_option_has_leaves_the_sample_unread(letter: str) -> None:
    verdict = run_check(check_reading, SAMPLE, [PAY, ASK], OptionReader(calls(), letters=[letter]))
    assert (verdict.decision, verdict.doubts[0].kind) == ("unproved", "unread")


def test_a_reader_that_breaks_down_leaves_the_sample_unread() -> None:
    class Broken(OptionReader):
        async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
            raise ReplyError("no JSON")

    verdict = run_check(check_reading, SAMPLE, [PAY, ASK], Broken())
    assert (verdict.decision, [one.kind for one in verdict.doubts]) == ("unproved", ["unread"])


def test_both_readers_see_the_gold_at_places_that_vary_and_other_near_misses() -> None:
    places = set()
    for number in range(12):
        sample = make_sample([PAY, ASK], f"Ines owes Tom 20, number {number}.", {"pay_back": GOLD})
        for check in (check_reading, check_second_reading):
            reader = OptionReader(calls())
            assert run_check(check, sample, [PAY, ASK], reader).decision == "proved"
            places.add(next(at for at, one in enumerate(reader.shown[0]) if one["calls"] == calls()))
    assert len(places) > 4


def test_tools_of_no_option_are_shown_by_what_they_do_alone() -> None:
    others = [make_tool(f"other_{at}", f"Does thing {at}.", held="string", required=["held"]) for at in range(20)]
    reader = OptionReader(calls())
    run_check(
        check_reading, SAMPLE.with_changes(candidates=tuple(t.key for t in (PAY, *others))), [PAY, *others], reader
    )
    tools = orjson.loads(re.findall(r"^<tools>(.*)</tools>$", reader.prompts[0], re.MULTILINE)[0])
    named = {call["tool"] for one in reader.shown[0] for call in one["calls"]}  # type: ignore[attr-defined]
    assert {one["name"] for one in tools if "parameters" in one} == named
    assert len(tools) == 21


def conversation() -> Sample:
    first = GoldCall(tool="ask_for_money", arguments={"payer": "Ines", "amount": 20})
    return make_sample(
        [PAY, ASK],
        UserTurn(text="Get the 20 back from Ines."),
        CallTurn(calls=(first,), executed=True),
        ResultTurn(results=({"asked": True},)),
        ReplyTurn(text="I have asked her.", acts=("inform",)),
        kind="conversation",
    ).with_changes(turns=(
        UserTurn(text="Get the 20 back from Ines."),
        CallTurn(calls=(first,), executed=True),
        ResultTurn(results=({"asked": True},)),
        ReplyTurn(text="I have asked her.", acts=("inform",)),
    ))  # fmt: skip


def test_where_calls_have_results_it_is_read_too_that_nothing_more_is_due() -> None:
    gold = [{"tool": "ask_for_money", "arguments": {"payer": "Ines", "amount": 20}}]
    reader = OptionReader(gold)
    assert run_check(check_reading, conversation(), [PAY, ASK], reader).decision == "unproved"
    assert len(reader.shown) == 2  # at the second place it finds the call due again
    assert any(one.get("act") == "ask" and not one["calls"] for one in reader.shown[1])


def asked(*names: str, decision: str = "proved") -> list[Verdict]:
    return [Verdict(subject=SAMPLE.key, check=name, decision=decision, model="reader") for name in names]  # type: ignore[arg-type]


async def rest(name: str, consistency: Consistency, verdicts: Sequence[Verdict] = ()) -> bool:
    stage = next(one for one in all_checks() if one.name == name)
    tools = {tool.key: tool for tool in (PAY, ASK)}
    context = StageContext(OptionReader(), Random(1), tools, consistency=consistency)
    return await has_rest(stage, SAMPLE, context, verdicts)


async def test_a_recipe_has_one_way_of_reading() -> None:
    assert {one.name for one in all_checks() if one.way == "hammerbench"} == {"consistency", "meaning"}
    assert not await rest("consistency", "near_misses")
    assert await rest("consistency", "hammerbench")
    assert await rest("reading", "near_misses")
    assert not await rest("reading", "hammerbench", asked("consistency", "meaning"))


async def test_a_second_reader_is_asked_only_where_the_first_one_wavers() -> None:
    assert not await rest("second_reading", "near_misses", asked("reading"))
    assert await rest("second_reading", "near_misses", asked("reading", decision="unproved"))


def test_no_rule_settles_what_words_mean() -> None:
    """Deed, nothing else and nothing missing are read: of these no rule may say that they are proved."""
    by_rules = {claim for one in all_checks() if one.sort == "rule" for claim in one.settles}
    assert not by_rules & {"deed", "nothing_else", "no_call_missing"}
    all_proved = [
        Verdict(subject=SAMPLE.key, check=one.name, decision="proved") for one in all_checks() if one.sort == "rule"
    ]
    settled = settled_claims(all_proved)
    assert settled.grade == "open"
    assert settled.open == {"deed", "nothing_else", "no_call_missing"}


async def test_what_the_first_reader_doubts_the_second_may_settle_and_else_people() -> None:
    read = [*asked("reading", decision="unproved"), *asked("second_reading")]
    assert settled_claims(read).grade == "judged"
    doubted = [*asked("reading", decision="unproved"), *asked("second_reading", decision="unproved")]
    assert settled_claims(doubted).grade == "open"
    assert settled_claims(doubted).is_doubted


def test_hammerbench_s_own_readings_are_still_there() -> None:
    assert (check_consistency.way, check_meaning.way) == ("hammerbench", "hammerbench")
    assert Choice.model_validate({"asked": ["A"]}).reason == ""
