"""People's own words for the tools of the seed catalog, in each language that has some."""

import pytest

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.language.calls.tools import own_words
from callwright.language.packs import known, of

DEEDS = {code: of(code).data["deeds"] for code in known() if "deeds" in of(code).data}


@pytest.mark.parametrize("code", DEEDS)
def test_each_deed_belongs_to_a_tool_of_the_language_and_is_found_by_its_description(code: str) -> None:
    tools = {tool.name: tool for tool in seed_tools((code,))}
    assert set(DEEDS[code]) <= set(tools)
    assert all(own_words(name, tools[name].description) == tuple(words) for name, words in DEEDS[code].items())


@pytest.mark.parametrize("code", DEEDS)
def test_no_deed_is_its_description_and_none_stands_twice(code: str) -> None:
    tools = {tool.name: tool for tool in seed_tools((code,))}
    copied = [
        (name, phrase) for name, phrases in DEEDS[code].items() for phrase in phrases
        if tools[name].description.rstrip(".").lower() in phrase.lower()
    ]  # fmt: skip
    assert copied == []
    phrases = [phrase for words in DEEDS[code].values() for phrase in words]
    assert len(set(phrases)) == len(phrases)
