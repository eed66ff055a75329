"""What rules make of flags, choices, amounts and remarks as people word them, and of values that changed places."""

from datetime import UTC, datetime

import pytest

from callwright.validators.checks.coverage import RequestReading, read_request
from callwright.warehouse.records import Tool

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
STRING, FLAG, COUNT = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}


def tool(name: str, /, **properties: dict[str, object]) -> Tool:
    return Tool(name=name, description="", category="", parameters={"type": "object", "properties": properties})


def choice(*values: str) -> dict[str, object]:
    return {"type": "string", "enum": list(values)}


def read(of: Tool, arguments: dict[str, object], request: str) -> RequestReading:
    return read_request(of, arguments, request, "en", NOW)


TOUR = tool("bookTour", place=STRING, guided_tour=FLAG)
PLAN = tool("changePlan", service=STRING, auto_renew=FLAG)
STAY = tool("bookRoom", hotel=STRING, guests=COUNT)
TABLE = tool("bookTable", adults=COUNT, children=COUNT)
PRESSURE = tool("logPressure", systolic=COUNT, diastolic=COUNT)
OVEN = tool("setOven", minutes={"type": "integer", "description": "in minutes"})
ORDER = tool("placeOrder", symbol=STRING, order_type=choice("market", "limit"))
PICTURE = tool("resizePicture", width=COUNT, height=COUNT)
PICKUP = tool("schedulePickup", not_before=STRING)
LEAVE = tool("reportAbsence", first_day=STRING, last_day=STRING)
SEND = tool("sendParcel", item_id=STRING, note=STRING)
SHIFT = tool("moveMeeting", title=STRING, new_date=STRING, new_start=STRING)
INVITE = tool("inviteGuests", guests={"type": "array", "items": STRING})
LIGHT = tool("dimLamp", room=STRING, level={"type": "integer", "description": "in percent"})
PARKING = tool("extendParking", plate=STRING, minutes={"type": "integer", "description": "in minutes"})


@pytest.mark.parametrize(
    ("of", "arguments", "request_text"),
    [
        (TOUR, {"place": "Red Fort", "guided_tour": False}, "The Red Fort please, we'd rather explore on our own."),
        (PLAN, {"service": "Paperly", "auto_renew": False}, "Paperly, but don't let it roll over."),
        (STAY, {"hotel": "Linden Inn", "guests": 4}, "The Linden Inn for my wife, our two kids and me."),
        (TABLE, {"adults": 2, "children": 3}, "A table for my husband, me and our three children."),
        (PRESSURE, {"systolic": 131, "diastolic": 87}, "Log 131 over 87."),
        (PRESSURE, {"systolic": 131, "diastolic": 87}, "Log 131/87."),
        (OVEN, {"minutes": 75}, "Set the oven for an hour and a quarter."),
        (OVEN, {"minutes": 90}, "Oven on for the next hour and a half."),
        (ORDER, {"symbol": "NVX", "order_type": "market"}, "Order NVX at whatever it's going for."),
        (PICTURE, {"width": 800, "height": 600}, "Make the picture's width and height 800 by 600."),
        (PICKUP, {"not_before": "18:00"}, "Schedule it, I'm not home before six in the evening."),
        (LIGHT, {"room": "attic", "level": 80}, "Dim the attic lamp to four fifths."),
        (PARKING, {"plate": "KX 771", "minutes": 45}, "My car KX 771 needs another forty-five minutes of parking."),
        (SHIFT, {"title": "Demo", "new_date": "2026-12-01", "new_start": "10:00"},
         "Move 'Demo' to next Tuesday at ten in the morning, my boss isn't around before."),
    ],
)  # fmt: skip
def test_what_people_say_in_other_words_is_proved(of: Tool, arguments: dict[str, object], request_text: str) -> None:
    reading = read(of, arguments, request_text)
    assert (reading.decision, reading.reasons) == ("proved", ())


@pytest.mark.parametrize(
    ("of", "arguments", "request_text"),
    [
        (TOUR, {"place": "Red Fort", "guided_tour": True}, "The Red Fort please, we'd rather explore on our own."),
        (TOUR, {"place": "Red Fort"}, "Book the Red Fort with a guide."),
        (PLAN, {"service": "Paperly", "auto_renew": True}, "Paperly, but don't let it roll over."),
        (STAY, {"hotel": "Linden Inn", "guests": 4}, "Four of my colleagues and I would like the Linden Inn."),
        (STAY, {"hotel": "Linden Inn", "guests": 2}, "The Linden Inn for my wife, our two kids and me."),
        (STAY, {"hotel": "Linden Inn", "guests": 2}, "The Linden Inn for my two sisters, me and the kids."),
        (PRESSURE, {"systolic": 87, "diastolic": 131}, "Log 131 over 87."),
        (PRESSURE, {"systolic": 87, "diastolic": 131}, "Log bottom 87, top 131."),
        (PICKUP, {"not_before": "09:00"}, "Schedule it at nine in the morning at the latest."),
        (LEAVE, {"first_day": "2026-11-25", "last_day": "2026-11-27"}, "I'm out from Wednesday and back on Friday."),
        (SEND, {"item_id": "mind the lid", "note": "P-77"}, "Send P-77 with the note 'mind the lid'."),
        (SHIFT, {"title": "Demo", "new_date": "2026-11-30", "new_start": "10:00"},
         "Move 'Demo' to Monday at ten. Sorry, I meant Tuesday at ten, in the morning."),
        (SHIFT, {"title": "Demo", "new_date": "2026-12-01"}, "Move 'Demo' to next Tuesday at ten in the morning."),
        (INVITE, {"guests": ["Omar"]}, "Invite Omar and Lena."),
        (INVITE, {"guests": ["omar@elm.example"]}, "Invite omar@elm.example and lena@elm.example."),
        (OVEN, {"minutes": 30}, "I was meant to set the oven for 30 minutes."),
        (OVEN, {"minutes": 30}, "Grandma always cried 'set the oven for 30 minutes!' from upstairs."),
        (OVEN, {"minutes": 30}, "Set the oven for 30 minutes, but that has been taken care of."),
        (OVEN, {"minutes": 30}, "I'm not asking you to set the oven for 30 minutes."),
    ],
)  # fmt: skip
def test_what_the_words_say_otherwise_is_not_proved(of: Tool, arguments: dict[str, object], request_text: str) -> None:
    assert read(of, arguments, request_text).decision != "proved"
