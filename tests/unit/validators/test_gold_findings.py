"""Findings by code: what a gold breaks of its document or of the words, and how grave that is."""

import pytest
from pydantic import JsonValue

from bench.bfcl_corrections import Row, table
from callwright.generators.imports.reading import AcceptedValues, ImportedRecord
from callwright.language.readers.duckling_reader import is_available
from callwright.validators.audit.documented import broken_demand
from callwright.validators.audit.findings import Finding, SeenGolds, find_in_record
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    GoldCall,
    JsonSchema,
    Origin,
    Sample,
    Tool,
    UserTurn,
)

ROOMS: JsonSchema = {"type": "string", "enum": ["1", "2", "dontcare"]}
CITY: JsonSchema = {
    "type": "string",
    "description": "The city, in the format of 'City, State', such as 'Austin, TX'.",
}
TYPES: JsonSchema = {"type": "object", "properties": {"mode": {"type": "string"}}}
CENTS: JsonSchema = {"type": "number", "description": "In the currency's smallest unit."}


def record(
    properties: dict[str, JsonSchema],
    arguments: Arguments,
    *accepted: AcceptedValues,
    said: str = "Please",
    called: str = "book",
    required: tuple[str, ...] = (),
) -> ImportedRecord:
    parameters: JsonSchema = {"type": "object", "properties": properties, "required": [*required]}
    tool = Tool(name="book", description="", parameters=parameters, category="")
    call = GoldCall(tool=called, arguments=arguments)
    turns = (UserTurn(text=said), CallTurn(calls=(call,)))
    sample = Sample(
        kind="taken_call",
        language="en",
        category="",
        candidates=(tool.key,),
        turns=turns,
        origin=Origin(stage="test"),
    )
    return ImportedRecord("file:1", sample, (tool,), accepted=accepted, item="one")


def accepts(argument: str, *values: JsonValue, may_lack: bool = False) -> AcceptedValues:
    return AcceptedValues(1, 0, argument, values, may_lack)


def found(*given: object, **more: object) -> list[Finding]:
    return [*find_in_record(record(*given, **more))]  # type: ignore[arg-type] # passed on


def test_a_value_of_another_type_is_an_error_with_the_value_that_was_meant() -> None:
    [finding] = found({"rooms": ROOMS}, {"rooms": 2})
    assert (finding.severity, finding.sort, finding.argument) == ("error", "type", "rooms")
    assert (finding.gold, finding.expected, finding.document) == (2, "2", 'type: "string"')


def test_another_accepted_value_that_is_right_lessens_a_finding() -> None:
    first_is_wrong = found({"rooms": ROOMS}, {"rooms": 2}, accepts("rooms", 2, "2"))
    second_is_wrong = found({"rooms": ROOMS}, {"rooms": "2"}, accepts("rooms", "2", 2))
    both_are_wrong = found({"rooms": ROOMS}, {"rooms": 2}, accepts("rooms", 2, 3))
    severities = [
        [one.severity for one in findings]
        for findings in (first_is_wrong, second_is_wrong, both_are_wrong)
    ]
    assert severities == [["warning"], ["note"], ["error"]]


def test_a_choice_in_other_letters_is_told_with_the_choice() -> None:
    schema: JsonSchema = {"type": "string", "enum": ["ethernet", "serial"]}
    [finding] = found({"kind": schema}, {"kind": "Ethernet"})
    assert (finding.sort, finding.expected) == ("enum", "ethernet")
    [finding] = found({"rooms": ROOMS}, {"rooms": "12"})
    assert (finding.sort, finding.expected) == ("enum", None)


def test_a_call_of_a_record_without_documents_is_a_note() -> None:
    bare = record({"city": {"type": "string"}}, {"city": "Bonn"})._replace(tools=())
    [tool] = find_in_record(bare)
    assert (tool.severity, tool.sort, tool.gold) == ("note", "undeclared", "book")


def test_what_no_document_declares_is_a_finding() -> None:
    [argument] = found({"_class": {"type": "string"}}, {"class": "Value"})
    assert (argument.severity, argument.sort, argument.document) == (
        "error",
        "undeclared",
        "_class",
    )
    [tool] = found({"city": {"type": "string"}}, {"city": "Bonn"}, called="reserve")
    assert (tool.sort, tool.gold, tool.expected) == ("undeclared", "reserve", "book")
    undeclared = accepts("body.jobMode", "COOL", may_lack=True)
    assert not found({"body": TYPES}, {"body": {}}, undeclared)
    [member] = found({"body": TYPES}, {"body": {}}, undeclared, accepts("body.mode", "x"))
    assert (member.severity, member.sort, member.argument) == (
        "warning",
        "undeclared",
        "body.jobMode",
    )


def test_all_that_a_call_lacks_is_one_finding() -> None:
    properties: dict[str, JsonSchema] = {"a": {"type": "string"}, "b": {"type": "string"}}
    assert [one.sort for one in found(properties, {}, required=("a", "b"))] == ["required"]
    lacking = found(properties, {"b": "x"}, accepts("a", "x", may_lack=True), required=("a",))
    assert [one.severity for one in lacking] == ["note"]


@pytest.mark.parametrize(
    ("description", "good", "bad"),
    [
        (CITY["description"], "Bonn, TX", "Bonn"),
        (CITY["description"], "Houston, TX", "Houston, Texas"),
        ("In the format 'City, State' or 'City, Country', such as 'Paris, FR'.", "Rome, Italy", ""),
        ("In the format 'City, Country', such as 'London, UK'.", "Rome, Italy", "Rome"),
        ("Such as 'New York, NY'.", "Bonn", ""),
        ("In the format 'City, State'. If there is none, City, Country.", "Rome, Italy", "Rome"),
        ("Formatted as 'Shop, Place', such as 'Pizzeria, Bonn, NW'.", "Pub, 1 Road, Bonn", "Pub"),
        ("Exact format: 'Street, City'.", "1 Road, Bonn", "1 Road, Bonn, NW"),
        ("In the format YYYY-MM-DD.", "2026-04-02", "20026-04-2"),
        ("Formatted as 'YYYY-MM-DD to YYYY-MM-DD'.", "2026-04-02 to 2026-04-03", "2026-04-02"),
        ("At HH:MM, or 'any'.", "any", "dontcare"),
        ("Like MM-DD-YYY.", "January 1", ""),
        ("Default is 'MM-DD-YYYY'.", "YYYY", ""),
        ("From 1 to 5 stars.", 5, 6),
        ("Must be within the range of 3 to 100.", 3, 101),
        ("From 10:00 to 12:00.", 9, None),
        ("One of: 'fast', 'slow'.", "Fast", "quick"),
        ("One of many, such as 'fast' or 'slow'.", "quick", ""),
    ],
)
def test_a_description_demands_formats_ranges_and_choices(
    description: str, good: JsonValue, bad: JsonValue
) -> None:
    schema: JsonSchema = {"type": "string", "description": description}
    assert broken_demand(good, schema) is None
    assert not bad or broken_demand(bad, schema) is not None


def test_a_broken_format_is_a_warning_and_a_note_beside_a_good_value() -> None:
    assert [one.severity for one in found({"city": CITY}, {"city": "Austin"})] == ["warning"]
    both = accepts("city", "Austin", "Austin, TX")
    [finding] = found({"city": CITY}, {"city": "Austin"}, both)
    assert (finding.severity, finding.expected) == ("note", "Austin, TX")


def test_a_place_in_the_users_own_form_is_a_note_where_a_state_is_asked_for() -> None:
    said = "A room in Toronto, Canada"
    assert [
        one.severity for one in found({"city": CITY}, {"city": "Toronto, Canada"}, said=said)
    ] == ["note"]
    assert [one.severity for one in found({"city": CITY}, {"city": "Toronto, Canada"})] == [
        "warning"
    ]


def test_a_day_in_another_form_is_told_in_the_right_one() -> None:
    day: JsonSchema = {"type": "string", "description": "In the format 'YYYY-MM-DD'."}
    [finding] = found({"on": day}, {"on": "05/15/2023"})
    assert (finding.sort, finding.expected) == ("format", "2023-05-15")


def test_what_the_words_say_speaks_against_the_document() -> None:
    rate: JsonSchema = {"type": "integer"}
    [finding] = found({"rate": rate}, {"rate": 0.029}, said="The rate is 0.029")
    assert (finding.words, "the document may be wrong" in finding.reason) == ("0.029", True)
    row: JsonSchema = {"type": "array", "items": {"type": "number"}}
    [finding] = found({"x": row}, {"x": "data['sales']"}, said="with x=data['sales']")
    assert finding.severity == "note"


def test_a_wrong_name_is_one_finding_and_an_empty_list_of_values_another() -> None:
    properties: dict[str, JsonSchema] = {"statement": {"type": "string"}, "b": {"type": "string"}}
    [renamed] = found(properties, {"question": "Why?"}, required=("statement",))
    assert (renamed.sort, renamed.argument) == ("undeclared", "question")
    assert "'statement' is required" in renamed.reason
    [empty] = found(properties, {}, accepts("statement"), accepts("b"), required=("statement",))
    assert (empty.sort, empty.severity) == ("required", "error")
    assert "'statement', 'b'" in empty.reason


@pytest.mark.skipif(not is_available(), reason="Duckling has no wheel for this machine.")
def test_an_amount_in_another_unit_is_told_with_the_right_number() -> None:
    said = "Send Kim a request for $42"
    [finding] = found({"amount": CENTS}, {"amount": 42.0}, said=said)
    assert (finding.severity, finding.sort, finding.words) == ("error", "unit", "$42")
    assert finding.expected == 4200
    also = accepts("amount", 42.0, 4200)
    assert [
        one.severity for one in found({"amount": CENTS}, {"amount": 42.0}, also, said=said)
    ] == ["note"]
    assert not found({"amount": CENTS}, {"amount": 4200.0}, said=said)


def test_the_same_words_with_another_gold_are_found_among_many() -> None:
    seen = SeenGolds()
    for at in range(3000):
        one = record({"rooms": ROOMS}, {"rooms": "1"}, said=f"Room {at}")
        assert seen.find_other_gold(one) is None
    same = record({"rooms": ROOMS}, {"rooms": "1"}, said="room 2000")
    other = record({"rooms": ROOMS}, {"rooms": "2"}, said="Room 2000")
    assert seen.find_other_gold(same) is None
    assert (finding := seen.find_other_gold(other)) is not None
    assert finding.sort == "duplicate"


def test_the_yardstick_counts_old_and_corrected_golds() -> None:
    def case(number: int, old: JsonValue, new: JsonValue, schema: JsonSchema) -> dict[str, object]:
        parameters = {"type": "dict", "properties": {"it": schema}, "required": []}
        return {
            "id": f"live_simple_{number}",
            "category": "live_simple",
            "question": [[{"role": "user", "content": "Rooms for two in Bonn"}]],
            "function": [{"name": "book", "description": "", "parameters": parameters}],
            "old_ground_truth": [{"book": {"it": [old]}}],
            "ground_truth": [{"book": {"it": [new]}}],
        }

    cases = [
        case(0, 2, "2", ROOMS),
        case(1, "Berlin", "Berlin, BE", CITY),
        case(2, "Bonn", "Cologne", {"type": "string"}),
    ]
    assert table(cases) == [Row("", 2, 0), Row("format", 1, 0), Row("type", 1, 0)]
    assert table(cases, is_perfect=True)[0] == Row("", 3, 0)


def test_what_a_data_set_leaves_open_or_asks_for_later_is_no_finding() -> None:
    number: dict[str, JsonSchema] = {"it": {"type": "number"}, "to": {"type": "string"}}
    assert not found(number, {"it": "$$$"})
    lacking = record(number, {"it": 1}, required=("to",))
    assert lacking.sample
    imperfect = lacking.sample.with_changes(kind="imperfect")
    assert [*find_in_record(lacking)]
    assert not [*find_in_record(lacking._replace(sample=imperfect))]


def test_a_value_that_several_turns_have_is_found_once() -> None:
    one = record({"it": {"type": "number"}}, {"it": "x"})
    assert one.sample
    again = one.sample.with_changes(turns=one.sample.turns * 2)
    assert len([*find_in_record(one._replace(sample=again))]) == 1


def test_a_part_that_nobody_said_or_asks_for_is_a_warning() -> None:
    named: JsonSchema = {"type": "string", "description": "The name of the city."}
    placed: JsonSchema = {"type": "string", "description": "The city, such as 'Austin, TX'."}
    arguments: Arguments = {"city": "San Diego, CA"}
    [finding] = found({"city": named}, arguments, said="Weather in San Diego?")
    assert (finding.severity, finding.sort, finding.expected) == (
        "warning",
        "not_said",
        "San Diego",
    )
    either = accepts("city", "San Diego, CA", "San Diego")
    assert not found({"city": named}, arguments, either, said="Weather in San Diego?")
    assert not found({"city": named}, arguments, said="Weather in San Diego, CA?")
    assert not found({"city": placed}, arguments, said="Weather in San Diego?")


@pytest.mark.parametrize(
    ("gold", "said", "is_found"),
    [
        ("E90123", "Sick leave for employee E89012", True),
        ("9876", "Check in for BNR321", True),
        ("123-456-7890", "There is no network on my phone", True),
        ("E90123", "Sick leave for employee e-90123", False),
        ("E90123", "The ID is in my contract", None),
        ("2019", "Songs from '19", False),
        ("2024-08-01", "Transfers of August 2024", False),
        ("1200", "Twice my 600", False),
        ("A", "Class A1", False),
    ],
)
def test_a_code_that_nobody_told_is_a_finding(
    gold: str, said: str, *, is_found: bool | None
) -> None:
    described = "Such as E90123" if is_found is None else ""
    schema: JsonSchema = {"type": "string", "description": described}
    findings = found({"it": schema}, {"it": gold}, said=said)
    assert [one.sort for one in findings] == (["not_said"] if is_found else [])
