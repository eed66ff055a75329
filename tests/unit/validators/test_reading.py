"""Reading blind: a reader writes the calls without knowing the gold, and only a difference is
settled, in both orders.
"""

import re
from collections.abc import Sequence

import orjson
import pytest
from pydantic import JsonValue

from callwright.generators.stages import StageContext
from callwright.llm.chat import Answer, Prompt
from callwright.llm.models import TEMPLATE
from callwright.testing import context_of, make_sample, make_tool, run_check
from callwright.validators.checks.table import all_checks, settled_claims
from callwright.validators.reading.writing import FEW_TOOLS, check_reading
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    UserTurn,
    Verdict,
)
from tests.support.validators.blind_readers import KnowingReader, PromptReader

PAY = make_tool(
    "pay_back",
    "Pay somebody money back.",
    payer="string",
    payee="string",
    amount="integer",
    note="string",
    required=["payer", "payee", "amount"],
)
ASK = make_tool(
    "ask_for_money",
    "Ask somebody for money.",
    payer="string",
    amount="integer",
    required=["payer", "amount"],
)
TOOLS = [PAY, ASK]
GOLD = {"payer": "Ines", "payee": "Tom", "amount": 20}
SAMPLE = make_sample(TOOLS, "Ines owes Tom 20, settle that for her.", {"pay_back": GOLD})


def call(**arguments: JsonValue) -> Call:
    return Call(tool="pay_back", arguments={**GOLD, **arguments})


class Settling(KnowingReader):
    """It writes what it is told to, and settles by a list of answers."""

    def __init__(self, *written: Call, settles: Sequence[str] = (), name: str = "reader") -> None:
        super().__init__(*written, tools=TOOLS)
        self.name, self._settles = name, list(settles)

    def settled(self, first: JsonValue, second: JsonValue, prompt: str) -> str:
        return self._settles.pop(0)


def test_who_writes_the_gold_judges_it_with_one_request() -> None:
    reader = Settling(call())
    verdict = run_check(check_reading, SAMPLE, TOOLS, reader)
    assert (verdict.decision, len(reader.prompts)) == ("proved", 1)
    assert verdict.readings[0].calls == (call(),)
    assert verdict.readings[0].votes == ()


def test_the_reader_is_shown_nothing_of_the_gold() -> None:
    for gold in (GOLD, {**GOLD, "amount": 31_415}, {**GOLD, "payee": "Zacharias"}):
        reader = Settling(call(), settles=["neither", "neither"])
        run_check(
            check_reading, make_sample(TOOLS, SAMPLE.request, {"pay_back": gold}), TOOLS, reader
        )
        assert "31415" not in reader.prompts[0]
        assert "Zacharias" not in reader.prompts[0]
    assert "system" not in reader.prompts[0]


@pytest.mark.parametrize(
    ("settles", "decision", "doubt"),
    [
        (["first", "second"], "proved", ""),  # the gold in both orders
        (["second", "first"], "unproved", "gives_other"),  # what was written in both
        (["first", "first"], "unproved", "gives_other"),  # always the first that is shown
        (["both", "both"], "unproved", "both_fit"),
        (["neither", "neither"], "unproved", "neither_fits"),
        (["first", "both"], "unproved", "gives_other"),
    ],
)
def test_a_difference_is_settled_in_both_orders(
    settles: list[str], decision: str, doubt: str
) -> None:
    reader = Settling(call(amount=21), settles=settles)
    verdict = run_check(check_reading, SAMPLE, TOOLS, reader)
    assert verdict.decision == decision
    assert [one.kind for one in verdict.doubts][:1] == ([doubt] if doubt else [])
    ways = [
        re.findall(r"^<(?:first|second)>(.*)</", prompt, re.MULTILINE)
        for prompt in reader.prompts[1:]
    ]
    assert ways[0] == ways[1][::-1]
    assert "gold" not in "".join(reader.prompts)


def test_where_only_free_text_is_worded_otherwise_both_means_the_same() -> None:
    gold = {**GOLD, "note": "for the new tyres of the car"}
    sample = make_sample(
        TOOLS, "Ines owes Tom 20 for the new tyres of her car.", {"pay_back": gold}
    )
    reworded, other = call(note="for the tyres of the car"), call(note="for dinner")
    assert (
        run_check(
            check_reading, sample, TOOLS, Settling(reworded, settles=["both", "both"])
        ).decision
        == "proved"
    )
    assert (
        run_check(check_reading, sample, TOOLS, Settling(other, settles=["both", "both"])).decision
        == "unproved"
    )


def test_the_judge_settles_what_the_checker_has_written() -> None:
    writer, judge = Settling(call(amount=21)), Settling(settles=["first", "second"], name="judge")
    context = context_of(TOOLS, writer)._replace(settler=judge)
    verdict = run_check_in(context)
    assert verdict.decision == "proved"
    assert (len(writer.prompts), len(judge.prompts)) == (1, 2)
    assert verdict.readings[0].settled_by == "judge"


def test_words_that_fit_a_tool_that_is_no_candidate_do_not_tell_which_is_meant() -> None:
    twin = make_tool("pay_back_friend", "Pay back a friend.", payer="string", amount="integer")
    others = [make_tool(f"fly_kite_{at}", "Fly.", meadow="string") for at in range(3)]
    context = context_of(
        [*TOOLS, *others, twin],
        Settling(Call(tool=twin.name, arguments=GOLD), settles=["both", "both"]),
    )
    verdict = run_check_in(context)
    assert verdict.decision == "unproved"
    shown = context.chat.prompts[0]  # type: ignore[attr-defined]
    assert "pay_back_friend" in shown
    assert shown.count('"fly_kite_') == 1, "two tools are shown besides the candidates"
    template = context_of([*TOOLS, twin], Settling(call(), name=TEMPLATE))
    assert run_check_in(template).decision == "proved"
    assert "pay_back_friend" not in template.chat.prompts[0]  # type: ignore[attr-defined]


def test_a_judge_that_reads_only_its_own_sentences_settles_nothing_for_a_reader_of_language() -> (
    None
):
    writer = Settling(call(amount=21), settles=["second", "first"], name="writer")
    judge = Settling(settles=["first", "second"], name=TEMPLATE)
    verdict = run_check_in(context_of(TOOLS, writer)._replace(settler=judge))
    assert verdict.decision == "unproved"
    assert (len(writer.prompts), len(judge.prompts)) == (3, 0)
    assert verdict.readings[0].settled_by == "writer"


def run_check_in(context: StageContext, sample: Sample = SAMPLE) -> Verdict:
    import asyncio

    [verdict] = asyncio.run(check_reading(sample, context))
    return verdict


class Replying(PromptReader):
    """It gives one reply, whatever it is asked."""

    def __init__(self, reply: dict[str, object] | None) -> None:
        super().__init__()
        self._reply = reply

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        if self._reply is None:
            raise ReplyError("The reply is prose.")
        return answer.model_validate(self._reply)


@pytest.mark.parametrize("reply", [None, {"calls": [{"tool": "pay_forward", "arguments": GOLD}]}])
def test_a_reply_that_is_no_call_of_a_known_tool_leaves_the_sample_unread(
    reply: dict[str, object] | None,
) -> None:
    verdict = run_check(check_reading, SAMPLE, TOOLS, Replying(reply))
    assert (verdict.decision, [one.kind for one in verdict.doubts]) == ("unproved", ["unread"])


def test_of_many_tools_a_reader_names_some_first_and_the_gold_is_shown_among_its_siblings() -> None:
    others = [
        make_tool(f"pay_back_{at}", f"Pay back way {at}.", payer="string")
        for at in range(FEW_TOOLS + 5)
    ]
    tools = [*others, PAY]
    sample = SAMPLE.with_changes(candidates=tuple(tool.key for tool in tools))
    reader = Settling(call())
    assert run_check(check_reading, sample, tools, reader).decision == "proved"
    named, written = reader.prompts
    assert len(orjson.loads(re.findall(r"^<list>(.*)</list>$", named, re.MULTILINE)[0])) == len(
        tools
    )
    shown = [
        one["name"]
        for one in orjson.loads(re.findall(r"^<tools>(.*)</tools>$", written, re.MULTILINE)[0])
    ]
    assert PAY.name in shown
    assert 3 <= len(shown) <= FEW_TOOLS


def conversation() -> Sample:
    first = GoldCall(tool="ask_for_money", arguments={"payer": "Ines", "amount": 20})
    turns = (
        UserTurn(text="Get the 20 back from Ines."),
        CallTurn(calls=(first,), executed=True),
        ResultTurn(results=({"asked": True},)),
        ReplyTurn(text="I have asked her.", acts=("inform",)),
    )
    return make_sample(TOOLS, *turns, kind="conversation").with_changes(turns=turns)


def test_where_calls_have_results_it_is_read_too_that_nothing_more_is_due() -> None:
    gold = Call(tool="ask_for_money", arguments={"payer": "Ines", "amount": 20})

    class Once(Settling):
        def written(
            self, tools: list[dict[str, JsonValue]], talk: str, prompt: str
        ) -> list[dict[str, JsonValue]]:
            return [] if "result:" in talk else super().written(tools, talk, prompt)

    assert run_check(check_reading, conversation(), TOOLS, Once(gold)).decision == "proved"
    again = run_check(
        check_reading, conversation(), TOOLS, Settling(gold, settles=["neither", "neither"])
    )
    assert again.decision == "unproved"
    assert len(again.readings) == 2


def asked(*names: str, decision: str = "proved") -> list[Verdict]:
    return [
        Verdict(subject=SAMPLE.key, check=name, decision=decision, model="reader") for name in names
    ]  # type: ignore[arg-type]


def test_no_rule_settles_what_words_mean() -> None:
    """Deed, nothing else and nothing missing are read: of these no rule may say that they are
    proved.
    """
    by_rules = {claim for one in all_checks() if one.sort == "rule" for claim in one.settles}
    assert not by_rules & {"deed", "nothing_else", "no_call_missing"}
    all_proved = [
        Verdict(subject=SAMPLE.key, check=one.name, decision="proved")
        for one in all_checks()
        if one.sort == "rule"
    ]
    settled = settled_claims(all_proved)
    assert settled.grade == "open"
    assert settled.open == {"deed", "nothing_else", "no_call_missing"}
