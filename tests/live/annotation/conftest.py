"""The fixtures of these tests."""

import asyncio
from collections.abc import Iterator

import pytest

from callwright.annotation.studio.server import ServerInfo
from callwright.warehouse.records import Sample
from tests.support.annotation.annotator_screen import AnnotatorScreen
from tests.support.annotation.fixtures import *  # noqa: F403
from tests.support.browsers import open_browser
from tests.support.conversational import converse


@pytest.fixture(scope="module")
def talk() -> Sample:
    """Six turns of the assistant; made before the browser opens, which keeps event loops away."""
    return asyncio.run(converse("underfill"))


@pytest.fixture(scope="module")
def context(label_studio_server: ServerInfo, talk: Sample) -> Iterator[AnnotatorScreen]:
    """One page for all tests of a module: what Label Studio's pages consist of is loaded once."""
    with open_browser() as opened:
        tab = opened.new_page(viewport={"width": 1366, "height": 768})
        tab.set_default_timeout(60_000)
        made = AnnotatorScreen(tab, label_studio_server.url)
        made.sign_in(label_studio_server)
        yield made
