"""Readers of a data set: what they write otherwise than all that it accepts is a finding."""

import asyncio
from collections.abc import Sequence

from pydantic import JsonValue

from callwright.flows.data_audit.readers import read_record
from callwright.generators.imports.reading import AcceptedValues, ImportedRecord
from callwright.testing import context_of, make_sample, make_tool
from callwright.validators.audit.findings import Finding
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, CallTurn, GoldCall
from tests.support.validators.blind_readers import KnowingReader

PAY = make_tool(
    "pay_back",
    "Pay somebody money back.",
    payee="string",
    amount={"type": "integer", "description": "in cents"},
    note="string",
    required=["payee", "amount"],
)
GOLD = {"payee": "Tom", "amount": 20}
SAMPLE = make_sample([PAY], "I owe Tom $20, settle that.", {"pay_back": GOLD})


def call(**arguments: JsonValue) -> Call:
    return Call(tool="pay_back", arguments={**GOLD, **arguments})


def find(
    *readers: KnowingReader, sample=SAMPLE, accepted: Sequence[AcceptedValues] = ()
) -> list[Finding]:
    record = ImportedRecord("pay.json:1", sample, (PAY,), item="pay_1", accepted=tuple(accepted))
    return asyncio.run(read_record(record, [context_of([PAY], reader) for reader in readers]))


def test_another_value_is_a_warning_with_both_values_and_the_words() -> None:
    [finding] = find(KnowingReader(call(amount=2000), tools=[PAY]))
    assert (finding.severity, finding.sort, finding.support) == ("warning", "reading_differs", 1)
    assert (finding.item, finding.turn, finding.call) == ("pay_1", 1, 0)
    assert (finding.tool, finding.argument, finding.gold) == ("pay_back", "amount", 20)
    assert finding.expected == 2000
    assert finding.document == "in cents"
    assert finding.reason == (
        "From the words alone reader wrote (settled in both orders: written and written):"
        " amount = 2000."
    )


def test_who_writes_the_gold_or_what_is_accepted_besides_finds_nothing_and_settles_nothing() -> (
    None
):
    cents = AcceptedValues(1, 0, "amount", (20, 2000))
    maybe = AcceptedValues(1, 0, "note", ("for lunch",), may_lack=True)
    for written in (call(), call(amount=2000), call(amount=2000, note="for lunch")):
        reader = KnowingReader(written, tools=[PAY])
        assert find(reader, accepted=[cents, maybe]) == []
        assert len(reader.prompts) == 1


def test_members_of_an_object_are_accepted_by_their_paths() -> None:
    tool = make_tool("pay_back", body={"type": "object"})
    gold = {"body": {"payee": "Tom", "amount": 20}}
    sample = make_sample([tool], "I owe Tom $20, settle that.", {"pay_back": gold})
    accepted = (
        AcceptedValues(1, 0, "body", (gold["body"],)),
        AcceptedValues(1, 0, "body.amount", (20, 2000)),
        AcceptedValues(1, 0, "body.note", ("for lunch",), may_lack=True),
    )
    record = ImportedRecord("pay.json:1", sample, (tool,), accepted=accepted)
    written = Call(
        tool="pay_back", arguments={"body": {"payee": "Tom", "amount": 2000, "note": "for lunch"}}
    )
    for call_, found in ((written, 0), (written.with_changes(arguments={"body": {"payee": 3}}), 1)):
        reader = KnowingReader(call_, tools=[tool])
        assert len(asyncio.run(read_record(record, [context_of([tool], reader)]))) == found


def test_an_accepted_value_beside_another_difference_is_not_held_against_the_gold() -> None:
    cents = AcceptedValues(1, 0, "amount", (20, 2000))
    reader = KnowingReader(call(amount=2000, payee="Tim"), tools=[PAY])
    [finding] = find(reader, accepted=[cents])
    assert (finding.argument, finding.gold, finding.expected) == ("payee", "Tom", "Tim")


def test_readers_that_write_the_same_make_one_finding_and_others_make_their_own() -> None:
    alike = (call(amount=2000), call(amount=2000), call(amount=2))
    findings = find(*(KnowingReader(one, tools=[PAY]) for one in alike))
    assert [(one.expected, one.support) for one in findings] == [(2000, 2), (2, 1)]
    assert len({one.key for one in findings}) == 2


def test_another_number_of_calls_is_a_finding_of_the_turn() -> None:
    gold = GoldCall(tool="pay_back", arguments=GOLD)
    other = GoldCall(tool="pay_back", arguments={**GOLD, "payee": "Ann"})
    sample = make_sample([PAY], "I owe Tom 20, and Ann.", CallTurn(calls=(gold, other)))
    [finding] = find(KnowingReader(call(), tools=[PAY]), sample=sample)
    assert (finding.call, finding.argument) == (-1, "")
    assert finding.expected == [{"name": "pay_back", "arguments": GOLD}]
    assert [one["arguments"]["payee"] for one in finding.gold] == ["Tom", "Ann"]
    assert finding.reason.endswith("pay_back(payee='Tom', amount=20).")


class Undecided(KnowingReader):
    def settled(self, first: JsonValue, second: JsonValue, prompt: str) -> str:
        return "both"


class Silent(KnowingReader):
    def written(self, *_: object) -> list[dict[str, JsonValue]]:
        raise ReplyError("Nothing.")


def test_who_finds_both_right_makes_a_note() -> None:
    [finding] = find(Undecided(call(amount=2000), tools=[PAY]))
    assert finding.severity == "note"


def test_a_reader_without_a_usable_answer_is_a_note() -> None:
    [finding] = find(Silent(call()))
    assert (finding.severity, finding.sort) == ("note", "unread")
    assert finding.reason == "reader can't be read: Nothing."
