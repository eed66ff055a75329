"""Tools of every type, in both languages, and a way to ask the template model as the stages do."""

from collections.abc import Callable
from typing import Any

import pytest

from callwright.llm.chat import ChatRequest
from callwright.warehouse.records import Tool

CLOCK = r"^([01]\d|2[0-3]):[0-5]\d$"
MOMENT = r"^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d$"


def tool(
    name: str, description: str, language: str, required: list[str], **properties: dict[str, Any]
) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(
        name=name, description=description, parameters=schema, category="test", language=language
    )


def text(description: str, *examples: str) -> dict[str, Any]:
    return {"type": "string", "description": description, "examples": list(examples)}


TOOLS = (
    tool(
        "Dining.Tables.bookTable",
        "Books a table at a restaurant for the user.",
        "en",
        ["restaurant", "date", "time"],
        restaurant=text(
            "Restaurant", "Blue Door", "The Olive Tree", "Corner Kitchen", "Salt & Vine"
        ),
        date={"type": "string", "format": "date", "description": "Day of the visit"},
        time={"type": "string", "pattern": CLOCK, "description": "Time of arrival"},
        guests={"type": "integer", "minimum": 1, "maximum": 12, "description": "Number of guests"},
        seating={
            "type": "string",
            "enum": ["window", "terrace", "quiet_corner"],
            "description": "Seating area",
        },
        high_chair={"type": "boolean", "description": "Whether a high chair is needed"},
    ),
    tool(
        "Dining.Tables.cancelTable",
        "Cancel a table that was booked.",
        "en",
        ["booking_id"],
        booking_id={"type": "string", "pattern": r"^TB-\d{5}$", "description": "Booking number"},
        reason=text(
            "Reason", "Plans changed", "Feeling ill", "Found another place", "Too many guests"
        ),
    ),
    tool(
        "Money.Transfers.sendMoney",
        "Send money to another person",
        "en",
        ["recipient", "amount"],
        recipient={"type": "string", "description": "Name of the recipient"},
        amount={"type": "number", "minimum": 1, "maximum": 5000, "description": "Amount"},
        currency={"type": "string", "enum": ["USD", "EUR", "GBP"], "description": "Currency"},
        scheduled_for={
            "type": "string",
            "pattern": MOMENT,
            "description": "Moment of the transfer",
        },
        note=text("Note", "Rent for March", "Thanks for lunch", "Concert tickets", "Shared taxi"),
    ),
    tool(
        "Parcels.Shipping.getOptions",
        "Retrieve available shipping options for a package.",
        "en",
        ["origin", "destination"],
        origin={"type": "string"},
        destination={"type": "string"},
        pickupDate={"type": "string"},
        customerID={"type": "string"},
        email={"type": "string"},
        packageDetails={
            "type": "object",
            "properties": {
                "weight": {"type": "string"},
                "note": {"type": "string"},
                "dimensions": {
                    "type": "object",
                    "properties": {"length": {"type": "string"}, "width": {"type": "string"}},
                    "required": ["length", "width"],
                },
            },
            "required": ["weight", "dimensions"],
        },
    ),
    tool(
        "Lists.Shopping.addItems",
        "Add items to a shopping list",
        "en",
        ["items"],
        items={
            "type": "array",
            "items": {"type": "string", "examples": ["milk", "brown bread", "eggs", "green tea"]},
            "minItems": 1,
            "description": "Items",
        },
        list_name=text("List", "Groceries", "Party", "Hardware store", "Pharmacy"),
        urgent={"type": "boolean"},
    ),
    tool(
        "Travel.Trains.findTrains",
        "查询列车车次",
        "zh",
        ["origin", "destination", "date"],
        origin=text("出发城市", "北京", "上海", "广州", "成都"),
        destination=text("到达城市", "杭州", "西安", "武汉", "南京"),
        date={"type": "string", "format": "date", "description": "出发日期"},
        passengers={"type": "integer", "minimum": 1, "maximum": 9, "description": "乘车人数"},
        seat={"type": "string", "enum": ["一等座", "二等座", "商务座"], "description": "席别"},
        direct={"type": "boolean", "description": "是否只看直达车"},
    ),
    tool(
        "Travel.Trains.refundTicket",
        "退掉已购买的火车票",
        "zh",
        ["order_id"],
        order_id={"type": "string", "pattern": r"^E\d{8}$", "description": "订单号"},
        reason=text("退票原因", "行程有变", "生病了", "买错了车次", "改坐飞机"),
    ),
    tool(
        "Calendar.Events.addEvent",
        "在日历中添加日程",
        "zh",
        ["title", "start"],
        title=text("日程标题", "项目周会", "看牙医", "接孩子放学", "健身课"),
        start={"type": "string", "pattern": MOMENT, "description": "开始时间"},
        minutes={
            "type": "integer",
            "minimum": 5,
            "maximum": 480,
            "multipleOf": 5,
            "description": "持续分钟数",
        },
        guests={
            "type": "array",
            "items": {"type": "string", "examples": ["王芳", "李雷", "张伟", "陈静"]},
            "description": "参加者",
        },
        remind={"type": "boolean", "description": "是否需要提醒"},
    ),
    tool(
        "Home.Climate.setTemperature",
        "设置房间的温度",
        "zh",
        ["room", "degrees"],
        room={"type": "string", "enum": ["客厅", "卧室", "书房"], "description": "房间"},
        degrees={
            "type": "number",
            "minimum": 16,
            "maximum": 30,
            "multipleOf": 0.5,
            "description": "目标温度",
        },
        until={"type": "string", "pattern": CLOCK, "description": "结束时间"},
    ),
)


@pytest.fixture(scope="session")
def tools() -> tuple[Tool, ...]:
    return TOOLS


def as_request(prompt: Any, answer: Any, *, sample_index: int = 0, **changes: Any) -> ChatRequest:
    schema = answer.model_json_schema() if answer else None
    request = ChatRequest(
        "template/v1", prompt.messages, schema, (), (), sample_index, prompt.marks
    )
    return request._replace(**changes)


@pytest.fixture(scope="session")
def ask() -> Callable[..., ChatRequest]:
    """The request that the chat would send for a prompt and an answer class."""
    return as_request
