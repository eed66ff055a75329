"""Tools of a category that do the same."""

import pytest

from callwright.testing import make_tool
from callwright.validators.toolset.redundancy import ALIKE, IN_DOUBT, are_opposed, check_redundancy
from callwright.warehouse.records import Language, Tool

TEXT: dict[str, str] = {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("turnOnSound", "Turn on the navigation sound."),
            ("turnOffSound", "Turn off the navigation sound."),
        ),
        (("blockNumber", "Block a phone number."), ("unblockNumber", "Unblock a phone number.")),
        (("navigationSoundA", "打开导航声音。"), ("navigationSoundB", "关闭导航声音。")),
        (("lockScreen", "锁定屏幕。"), ("unlockScreen", "解锁屏幕。")),
        (("setAlarm", "Set an alarm."), ("deleteAlarm", "Delete an alarm.")),
        (
            ("sendMoney", "Send money to somebody."),
            ("requestMoney", "Request money from somebody."),
        ),
        (("muteGroup", "静音群聊。"), ("ringGroup", "取消静音群聊。")),
    ],
)
def test_opposites_are_never_twins_however_alike_their_words(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    language: Language = "en" if one[1].isascii() else "zh"
    pair = [make_tool(*words, language=language, number=TEXT) for words in (one, other)]
    assert are_opposed(*pair)
    assert are_opposed(*reversed(pair))
    assert [verdict.decision for verdict in check_redundancy(pair)] == ["proved", "proved"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            make_tool(
                "searchFlights",
                "Search flights between two cities.",
                origin=TEXT,
                destination=TEXT,
                date=TEXT,
            ),
            make_tool(
                "findFlights",
                "Find flights from one city to another.",
                origin=TEXT,
                destination=TEXT,
                day=TEXT,
            ),
        ),
        (
            make_tool("bookHotel", "Book a hotel room.", city=TEXT, check_in_date=TEXT),
            make_tool(
                "reserveHotelRoom", "Reserve a room in a hotel.", city=TEXT, check_in_date=TEXT
            ),
        ),
        (
            make_tool("getBalance", "查看账户余额。", language="zh", account=TEXT),
            make_tool("checkAccountBalance", "查询账户余额还剩多少。", language="zh", account=TEXT),
        ),
    ],
)
def test_the_second_of_two_that_do_the_same_waits_for_people_with_the_first_named(
    one: Tool, other: Tool
) -> None:
    first, second = check_redundancy([one, other])
    assert (first.subject, first.decision) == (one.key, "proved")
    assert second.subject == other.key
    assert second.score is not None
    assert second.score >= IN_DOUBT
    assert second.decision == ("contradicted" if second.score >= ALIKE else "unproved")
    assert one.name in second.reason
    assert [(proof.path, proof.quote) for proof in second.evidence] == [(one.key, one.name)]


def test_the_same_again_under_another_name_is_contradicted() -> None:
    one = make_tool("sendMessage", "Send a text message to a contact.", contact=TEXT, text=TEXT)
    other = make_tool(
        "writeMessage", "Send one text message to a contact.", contact=TEXT, text=TEXT
    )
    assert check_redundancy([one, other])[1].decision == "contradicted"


def test_only_tools_of_one_category_and_language_are_compared() -> None:
    one = make_tool("searchFlights", "Search flights.", category="Flights", date=TEXT)
    elsewhere = one.with_changes(category="Travel")
    other_language = one.with_changes(language="zh")
    assert {verdict.decision for verdict in check_redundancy([one, elsewhere, other_language])} == {
        "proved"
    }
