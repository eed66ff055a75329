"""Where a text says a value, and by which rule."""

from typing import Any

import pytest

from callwright.language.values import locate

BREAKFAST = {"type": "boolean", "description": "Whether breakfast is included"}


@pytest.mark.parametrize(
    ("value", "text", "quote", "rule"),
    [
        ("Blue Hotel", "book the Blue Hotel now", "Blue Hotel", ""),
        ("round_trip", "a Round-Trip please", "Round-Trip", "spelling"),
        ("Chang'an Street", "on Chang 'an street", "Chang 'an street", "spelling"),
        ("café", "the CAFE there", "CAFE", "spelling"),
        ("13800001234", "call 138 0000 1234", "138 0000 1234", "grouping of digits"),
        ("books", "I want a book", "book", "inflection"),
        ("Text Messaging", "send a text message", "text message", "inflection"),
        ("60 sqm", "about 60 square meters", "60 square meters", "inflection"),
        (
            "Chengdu Wuhou Temple",
            "near the Wuhou Temple in Chengdu",
            "Wuhou Temple in Chengdu",
            "word order",
        ),
        ("Neurology", "see a neurologist today", "neurologist", "word form"),
        ("New York City", "a flight to NYC", "NYC", "place spelling"),
        ("广州市", "去广州玩", "广州", "place spelling"),
        ("校园东侧图书馆", "在校园东侧的图书馆", "校园东侧的图书馆", "inflection"),
        ("上海-北京", "从上海到北京的", "上海到北京", "words apart"),
        ("April 01, 2023", "on April 1, 2023?", "April 1, 2023", "date"),
        ("04/05/2023 08:00", "at 8am on April 5, 2023", "8am on April 5, 2023", "date in figures"),
        ("Tomorrow at 10am", "at 10am tomorrow, ok", "10am tomorrow", "date and time"),
        ("2026-03-05", "on March 5, 2026", "March 5, 2026", "date"),
        ("2026-03-05", "3月5号出发", "3月5号", "date without a year"),
        ("19:30", "晚上七点半见", "晚上七点半", "time of day"),
        ("19:30", "come at 7:30", "7:30", "time of day without am or pm"),
        ("2026-03-05 19:30", "5 March 2026 at 7:30 pm", "5 March 2026 at 7:30 pm", "date and time"),
        (4, "a table for four", "four", "number word"),
        (1_200_000, "总价120万", "120万", "number"),
        (0.029, "at 2.9%", "2.9%", "percent"),
        ("3", "3 nights", "3", ""),
    ],
)
def test_a_value_is_found_by_a_named_rule(value: Any, text: str, quote: str, rule: str) -> None:
    found = locate(value, {}, text)
    assert found is not None
    assert (text[found.start : found.end], found.rule, found.value) == (quote, rule, value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "at 13 o'clock"),
        (3, "at 3pm"),
        (3, "on March 3, 2026"),
        (3, "三月出发"),
        ("3", "on March 3"),
        ("3", "in 13 days"),
        ("12", "costs 12.50"),
        ("120", "总价120万"),
        ("art", "a party"),
        ("A12345678", "passport G12345678"),
        ("10am", "10 people"),
        ("Guangzhou to Shenzhen", "from Shenzhen to Guangzhou"),
        ("2 adults 1 child", "1 adult and 2 children"),
        ("parking allowed", "parking is not allowed"),
        ("19:30", "at 7:30 am"),
        ("2026-03-05", "on 3/5/2026"),
        ("2026-03-05", "on March 5, 2025"),
        ("Stanford University", "at Stanford Hospital"),
        ("us", "in the US"[:-3] + "UK"),
        (None, "none"),
        ("", "anything"),
        ([], "anything"),
    ],
)
def test_what_the_text_does_not_say_is_not_found(value: Any, text: str) -> None:
    assert locate(value, {}, text) is None


@pytest.mark.parametrize(
    ("value", "text", "rule"),
    [
        (True, "a room with breakfast", "stated"),
        (False, "a room without breakfast", "negated"),
        (False, "no breakfast, please", "negated"),
        (True, "Yes, please.", "yes or no"),
        (False, "no", "yes or no"),
    ],
)
def test_a_boolean_is_stated_or_negated_by_the_words_of_its_description(
    value: bool, text: str, rule: str
) -> None:
    found = locate(value, BREAKFAST, text)
    assert found is not None
    assert found.rule == rule
    assert locate(not value, BREAKFAST, text) is None


def test_the_members_of_lists_and_objects_are_found_each() -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    pair = locate(
        ["tea", "milk"], {"type": "array", "items": {"type": "string"}}, "buy milk and some tea"
    )
    assert pair is not None
    assert (pair.start, pair.end, pair.rule) == (4, 21, "list")
    whole = locate({"item": "tea", "count": 2}, schema, "two packs of tea")
    assert whole is not None
    assert whole.rule == "object"
    assert locate(["tea", "milk"], {}, "buy milk") is None
