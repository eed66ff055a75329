"""The looking at pages itself: it sees what is wrong with a page, and leaves alone what is
right.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browsers import open_browser
from tests.support.looking import Fault, Looker

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket]


@pytest.fixture(scope="module")
def looker() -> Iterator[Looker]:
    with open_browser() as browser:
        yield Looker(browser)


FAULTY = {
    "are torn": (
        "<p class=torn>Search for a hotel <mark>on 26 November 2027</mark> for <mark>8</mark>"
        " guests with breakfast</p>"
    ),
    "are one below the other": "<p class=column>Search <mark>for</mark> a hotel</p>",
    "are in another order": "<p class=turned>Search for <b>a hotel</b></p>",
    "are broken": "<p class=slim>An appointment on Monday</p>",
    "overlap": "<p>Some words</p><p class=up>and others over them</p>",
    "are cut": (
        "<div class=cut><p>More words than there is room for, so that some can't be read by"
        " anybody.</p></div>"
    ),
    "stand outside": "<p class=out>Somewhere else</p>",
    "are too wide": "<table><tr><td class=line>" + "many words " * 40 + "</td></tr></table>",
    "are too faint": "<p class=faint>Hardly to be seen</p>",
    "have no name": "<button></button>",
    "fail": "<script>throw new Error('a bug')</script>",
    "are not loaded": "<img alt='' src='file:///nowhere.png'>",
}
STYLE = """
    body { margin: 20px; background: white; color: black; font: 16px sans-serif; } mark { background: none; color: inherit }
    .torn { display: grid; grid-template-columns: 1fr 1fr; } .column { display: grid; }
    .turned { direction: rtl; unicode-bidi: bidi-override }
    .slim { width: 1em; overflow-wrap: anywhere } .up { position: relative; top: -30px } .cut { height: 12px; overflow: hidden }
    .out { position: absolute; left: -50px } .line { white-space: nowrap } .faint { color: #bbb }
    pre, .code { overflow-wrap: anywhere; white-space: pre-wrap }
"""
PAGE = (
    "<!doctype html><html lang=en><title>A page</title><style>{style}</style><main><h1>A"
    " page</h1>{body}</main></html>"
)


@pytest.mark.parametrize("what", FAULTY)
def test_words_that_are_wrong_are_seen(what: str, looker: Looker, tmp_path: Path) -> None:
    assert drawn(FAULTY[what], looker, tmp_path) != []


def test_words_that_are_right_are_left_alone(looker: Looker, tmp_path: Path) -> None:
    fine = f"<p>{'Search for <mark>a hotel</mark> on 26 November, for <b>8</b> guests. ' * 12}</p><p>我想录个语音问候。</p>"
    fine += f"<pre tabindex=0>  some\n     code\n{'x' * 300}</pre><p class=code>{'x' * 300}</p>"
    assert drawn(fine, looker, tmp_path) == []


def drawn(body: str, looker: Looker, folder: Path) -> list[Fault]:
    page = folder / "page.html"
    page.write_text(PAGE.format(style=STYLE, body=body), encoding="utf-8")
    return list(looker.look(page.as_uri()))
