"""The faults of CallNavi's data: those that are known are found, and each kind on a small folder
of its own.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.validators.metrics.callnavi.dataset import (
    CheckedDataset,
    check_callnavi,
    fault_kinds,
    find_stated,
)

TOOLS = [
    {
        "name": "bookRoom",
        "parameters": {"guestID": "string", "roomType": "single/double", "startDate": "string"},
        "description": "Book a room.",
        "returnParameter": {"bookingID": "string"},
    },
    {
        "name": "payBooking",
        "parameters": {"bookingID": "string", "amount": "number"},
        "description": "Pay a booking.",
        "returnParameter": "status",
    },
    {
        "name": "listRooms",
        "parameters": {},
        "description": "List all rooms.",
        "returnParameter": ["rooms"],
    },
]
REQUEST = "Book a single room for guest ID G77 from 2024-10-05 and pay 120 dollars."
BOOKED = {"guestID": "G77", "roomType": "single", "startDate": "2024-10-05"}
PAID = {"bookingID": "$$$", "amount": 120}


def check(
    folder: Path,
    names: list[str],
    parameters: list[dict[str, Any]],
    difficulty: str = "hard",
    text: str = REQUEST,
) -> CheckedDataset:
    gold = {"API": names, "parameters": parameters}
    asked = {
        "id": "hot1",
        "question": [{"role": "user", "content": text}],
        "ground_truth": gold,
        "difficulty": difficulty,
    }
    for name, content in (("APIs", {"api_ports": TOOLS}), ("Questions", [asked])):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "inns.json").write_text(json.dumps(content))
    return check_callnavi(folder)


def kinds(checked: CheckedDataset) -> list[str]:
    return [finding.kind for finding in checked.findings if finding.question]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"guestID": "$$$"}, "needless_placeholder"),
        ({"startDate": "$$$"}, "needless_placeholder"),
        ({"roomType": "$$$"}, "needless_placeholder"),
        ({"guestID": "G78"}, "invented_value"),
        ({"startDate": {}}, "accepts_anything"),
        ({"nights": 1}, "undeclared_parameter"),
        ({"guestID": 77}, "wrong_type"),
    ],
)
def test_a_fault_in_a_value_is_found(tmp_path: Path, change: dict[str, Any], kind: str) -> None:
    checked = check(tmp_path, ["bookRoom", "payBooking"], [{**BOOKED, **change}, PAID])
    assert kind in kinds(checked)
    finding = next(one for one in checked.findings if one.kind == kind)
    assert (finding.tool, finding.parameter) == ("bookRoom", next(iter(change)))


@pytest.mark.parametrize(
    ("names", "parameters", "difficulty", "expected"),
    [
        (["bookHall", "payBooking"], [BOOKED, PAID], "hard", "unknown_tool"),
        (["bookroom", "payBooking"], [BOOKED, PAID], "hard", "unknown_tool"),
        (["bookRoom", "payBooking"], [BOOKED], "hard", "wrong_count"),
        (["bookRoom"], [BOOKED], "medium", "wrong_difficulty"),
        (["bookRoom", "listRooms"], [BOOKED, {}], "easy", "wrong_difficulty"),
        (["bookRoom", "listRooms"], [BOOKED, {}], "hard", "missing_placeholder"),
        (["bookRoom", "payBooking"], [BOOKED, PAID], "medium", "unexpected_placeholder"),
        (["payBooking"], [PAID], "easy", "placeholder_without_source"),
        (["payBooking"], [{"bookingID": "$$$"}], "easy", "missing_parameter"),
        (
            ["bookRoom", "payBooking"],
            [{**BOOKED, "roomType": "suite"}, PAID],
            "hard",
            "not_a_choice",
        ),
    ],
)
def test_a_fault_in_the_calls_is_found(
    tmp_path: Path,
    names: list[str],
    parameters: list[dict[str, Any]],
    difficulty: str,
    expected: str,
) -> None:
    assert expected in kinds(check(tmp_path, names, parameters, difficulty))


@pytest.mark.parametrize(
    ("parameter", "request_text", "stated", "said"),
    [
        ("endDate", "from October 10th to October 15th", [], "October 15th"),
        ("endDate", "on October 10th", [], ""),
        ("date", "on 2024-09-20 and back", ["2024-09-20"], ""),
        ("destination", "a flight from Rome to New York please", [], "New York"),
        ("paymentMethod", "a payment towards my credit card", [], ""),
        ("paymentMethod", "paid by credit card", [], "credit card"),
        ("orderId", "my order ORDER789", [], "ORDER789"),
        ("orderId", "my order", [], ""),
        ("query", "search for 'laptops'", [], "laptops"),
        ("query", "search for 'laptops'", ["Laptops"], ""),
        ("cancellationReason", "cancel it because my trip was moved.", [], "my trip was moved"),
        ("updateData", "change it on 2024-09-20", [], ""),
    ],
)
def test_the_words_that_a_placeholder_hides_are_found_by_its_name(
    parameter: str, request_text: str, stated: list[str], said: str
) -> None:
    assert find_stated(parameter, request_text, stated) == said


def test_what_is_known_of_the_published_data_is_found(shared: Path) -> None:
    checked = check_callnavi(shared / "data" / "callnavi")
    found = {
        kind: {one.question for one in checked.findings if one.kind == kind}
        for kind in fault_kinds()
    }
    assert (checked.questions, checked.tools) == (729, 587)
    assert found["unknown_tool"] == {"avi07", "avi08", "avi059", "avi066", "hr035"}
    assert len([one for one in checked.findings if one.kind == "unknown_tool"]) == 6
    undeclared = {
        (one.question, one.tool) for one in checked.findings if one.kind == "undeclared_parameter"
    }
    assert len(undeclared) == 31
    assert len({name for name in found["undeclared_parameter"] if name.startswith("gov")}) >= 7
    assert {"sho042", "hot062", "tel082"} <= found["undeclared_parameter"]
    assert found["wrong_count"] == {"sho005", "sho029", "sho030", "sho031", "sho036", "sho038"}
    assert found["wrong_difficulty"] == {"avi060"}
    assert found["accepts_anything"] == {"ban010"}
    assert found["repeated_id"] == found["repeated_question"] == set()
    messages = {one.message for one in checked.findings if one.kind == "other_count"}
    assert {
        "bank has 96 tools; Table 2 has 91.",
        "bank has 27 medium questions; Table 2 has 28.",
    } <= messages
