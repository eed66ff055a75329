"""Personas and styles: drawn by a sample's seed, shown where a user's words are written, kept
with the sample.
"""

from pathlib import Path

from callwright.flows.recipe import Recipe
from callwright.flows.run.plan import build_key
from callwright.generators.kinds import FAMILIES
from callwright.generators.voices import (
    SILENT,
    UserVoice,
    VoicedChat,
    draw_personas,
    in_voice,
    marked,
    voice_of,
)
from callwright.llm.chat import ChatMessage, Prompt
from callwright.testing import ScriptedModel
from callwright.warehouse.records import (
    Assignment,
    Origin,
    ParameterChoice,
    Sample,
    SampleFacts,
    UserTurn,
)
from tests.support.generators.external.fixtures import derivation

PERSONAS = draw_personas(30, seed=1)
STYLES = ("brief", "wordy")
SMALL = {"name": "small", "tools": [{"seed": "all"}], "samples": {"perfect": 2}, "seed": 7}
REAL = {"models": {"generator": "openai/some"}}


def prompt_named(name: str) -> Prompt:
    messages = (
        ChatMessage(role="system", content="Rules."),
        ChatMessage(role="user", content="<seed>1</seed>"),
    )
    return Prompt(name=name, version="v", messages=messages)


def assigned(seed: int) -> Assignment:
    return Assignment(
        kind="perfect",
        language="en",
        category="x",
        tool="t",
        candidates=("t",),
        parameter_count=1,
        seed=seed,
    )


def test_a_sample_has_one_voice_on_all_its_way_and_samples_differ() -> None:
    plan = assigned(5)
    later = ParameterChoice(
        assignment=plan, parameters=(), origin=Origin(stage="parameters", seed=5)
    )
    assert voice_of(plan, PERSONAS, STYLES) == voice_of(later, PERSONAS, STYLES) != SILENT
    assert len({voice_of(assigned(seed), PERSONAS, STYLES) for seed in range(40)}) > 20


def test_what_is_made_of_a_sample_goes_on_in_its_voice() -> None:
    bare = Sample(
        kind="perfect", language="en", category="x", candidates=(), turns=(UserTurn(text="Hi."),)
    )
    voice = UserVoice("a nurse", "brief")
    spoken = marked(marked(bare, UserVoice("somebody", "else")), voice)
    assert spoken.facts == SampleFacts(persona="a nurse", style="brief")
    assert voice_of(derivation(spoken), PERSONAS, STYLES) == voice
    assert voice_of(derivation(bare), PERSONAS, STYLES) != SILENT


def test_the_voice_is_shown_where_a_user_speaks_and_the_fixed_part_stays_first() -> None:
    one, other = (
        in_voice(prompt_named("write_request"), UserVoice(who, "brief")) for who in PERSONAS[:2]
    )
    assert one.messages[0] == other.messages[0]
    assert one.messages[0].content.startswith("Rules.\nSpeak as <persona>")
    assert (
        one.messages[1].content
        == f"<seed>1</seed>\n<persona>{PERSONAS[0]}</persona>\n<style>brief</style>"
    )
    assert "persona" not in str(
        in_voice(prompt_named("write_request"), UserVoice("", "brief")).messages
    )


def test_each_family_that_makes_samples_has_prompts_that_word_what_a_user_says() -> None:
    voiced = {
        family.name: {name for one in family.stages for name in one.voiced}
        for family in FAMILIES.rows()
    }
    assert {name for name, prompts in voiced.items() if not prompts} == {
        "faults",
        "policies",
        "taken",
    }, "they take what users said"
    asked = {
        family.name: {Path(path).stem for one in family.stages for path in one.templates}
        for family in FAMILIES.rows()
    }
    assert all(voiced[name] <= asked[name] for name in voiced)


async def test_a_voiced_chat_asks_in_the_voice() -> None:
    chat = ScriptedModel({"write_request": ["fine"]})
    voiced = VoicedChat(chat, ("write_request",), UserVoice("a nurse"))
    assert (await voiced.complete(prompt_named("write_request"))).text == "fine"
    assert "<persona>a nurse</persona>" in chat.asked[0].messages[-1].content
    assert voiced.name == chat.name


def test_people_are_drawn_by_the_seed_none_of_them_twice() -> None:
    assert draw_personas(10, seed=1) == PERSONAS[:10]
    assert draw_personas(10, seed=2) != PERSONAS[:10]
    assert len(set(PERSONAS)) == len(PERSONAS)


def test_personas_and_styles_are_part_of_a_builds_name_and_no_voices_are_no_part_of_it() -> None:
    plain = Recipe.model_validate(SMALL | REAL)
    keys = [
        build_key(plain, []),
        build_key(Recipe.model_validate(SMALL | REAL | {"personas": ["a nurse"]}), []),
        build_key(Recipe.model_validate(SMALL | REAL | {"personas": 3}), []),
        build_key(Recipe.model_validate(SMALL | REAL | {"styles": ["brief"]}), []),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == build_key(
        Recipe.model_validate(SMALL | REAL | {"personas": [], "styles": []}), []
    )
