import re
from datetime import date
from pathlib import Path

import pytest

from callwright.llm.known_models import (
    end_of,
    example_models,
    known_model,
    known_models,
    taken_options,
)
from tests.support.llm.names import OTHER, PLAIN, THINKING

TOP = Path(__file__).parents[3]
TOLD = {"temperature": 0.2, "max_tokens": 50, "seed": 3}
_MAKERS = (
    "openai|anthropic|gemini|mistral|deepseek|groq|xai|bedrock|azure|cohere|together_ai|openrouter"
)
_NAMED = re.compile(
    rf"\b(?:{_MAKERS})/\w[\w.:-]*\d[\w.:-]*|\b(?:gpt|claude(?!-code)|gemini|llama(?!-cpp)|qwen|mistral|deepseek)-[\w.:-]*\w"
)


def test_the_examples_are_alive_and_known():
    for name in example_models().values():
        assert known_model(name), name
        assert end_of(name) is None, (
            f"{name} ends on {end_of(name)}: name another one in llm/examples.yaml"
        )


@pytest.mark.parametrize(
    "folder", ["README.md", "docs", "recipes", "flows", "llm", "generators", "annotation"]
)
def test_no_other_model_is_named(folder):
    place = TOP / folder
    found = {
        (str(path.relative_to(TOP)), name)
        for path in ([place] if place.is_file() else place.rglob("*"))
        if path.suffix in {".md", ".py", ".yaml", ".html", ".j2"} and path.name != "examples.yaml"
        for name in _NAMED.findall(path.read_text(encoding="utf-8"))
        if not name.endswith(".jsonl")
    }
    known = {
        *example_models().values(),
        *(name.partition("/")[2] for name in example_models().values()),
    }
    assert {(path, name) for path, name in found if name not in known} == set()


def test_a_name_without_a_date_ends_with_the_last_of_its_versions():
    alias = next(
        name
        for name, entry in known_models().items()
        if not entry.get("deprecation_date") and end_of(f"{entry.get('litellm_provider')}/{name}")
    )
    maker = known_models()[alias]["litellm_provider"]
    days = [
        date.fromisoformat(entry["deprecation_date"])
        for name, entry in known_models().items()
        if re.fullmatch(rf"{re.escape(alias)}-\d{{4}}-?\d\d-?\d\d", name)
        and entry["litellm_provider"] == maker
    ]
    assert end_of(f"{maker}/{alias}") == max(days)


def test_a_model_that_thinks_is_sent_what_it_takes():
    assert taken_options(PLAIN, TOLD) == TOLD
    assert taken_options(THINKING, TOLD) == {"max_completion_tokens": 50, "seed": 3}
    assert taken_options(THINKING, TOLD | {"temperature": 1})["temperature"] == 1
    assert (
        taken_options(THINKING, TOLD | {"extra": {"reasoning_effort": "none"}})["temperature"]
        == 0.2
    )
    assert "temperature" not in taken_options(OTHER, TOLD)
