"""No secret is kept with a model's settings: what looks like one is refused, and headers refer
to variables.
"""

import re

import pytest

from callwright.flows.run.work import with_secret
from callwright.llm.models import read_model
from callwright.llm.refusals import with_values, without_values
from callwright.warehouse.errors import ConfigurationError

GATEWAY = {"extra": {"extra_headers": {"X-Gateway-Key": "Bearer ${GATEWAY_API_KEY}"}}}


@pytest.mark.parametrize(
    "settings",
    [
        {"api_base": "https://models.example/v1?key=abc"},
        {"api_base": "https://models.example/v1#abc"},
        {"extra": {"extra_headers": {"Authorization": "Bearer abc"}}},
        {"extra": {"extra_headers": {"X-Api-Key": "abc"}}},
        {"extra": {"extra_headers": {"X-Any": "Bearer abcdef"}}},
        {"extra": {"aws_secret_access_key": "abc"}},
        {"extra": {"extra_body": {"client_secret": "abc"}}},
        {"extra": {"extra_query": {"api-key": "abc"}}},
        {"extra": {"azure_ad_token": "os.environ/AWS_SECRET_ACCESS_KEY"}},
        {"extra": {"anything": "os.environ/AWS_SECRET_ACCESS_KEY"}},
    ],
)
def test_a_secret_in_a_recipe_is_refused_without_being_repeated(settings: dict) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_model("openai/x", settings)
    assert re.search("kept with the build|name the variable", str(refused.value))
    assert "abc" not in str(refused.value)


@pytest.mark.parametrize(
    "extra",
    [
        {"max_completion_tokens": 5, "prompt_cache_key": "a", "stop_token_ids": [1], "top_p": 1},
        {"extra_headers": {"X-Title": "callwright", "HTTP-Referer": "https://example.org"}},
    ],
)
def test_what_is_no_secret_is_taken(extra: dict) -> None:
    assert read_model("openai/x", {"extra": extra}).extra == extra


def test_a_header_is_sent_with_the_value_and_kept_with_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GATEWAY_API_KEY", "very-secret")
    settings = with_secret(read_model("openai/x", GATEWAY))
    for kept in (settings.model_dump_json(), repr(settings), repr(settings.options), settings.key):
        assert "very-secret" not in kept
    assert settings.key == read_model("openai/x", GATEWAY).key
    values = {name: value.get_secret_value() for name, value in settings.header_values.items()}
    assert with_values("Bearer ${GATEWAY_API_KEY}", values) == "Bearer very-secret"
    assert without_values(values)("refused: very-secret") == "refused: ***"


def test_a_header_whose_variable_is_not_set_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEWAY_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="GATEWAY_API_KEY is not set"):
        with_secret(read_model("openai/x", GATEWAY))


@pytest.mark.parametrize(
    "variable",
    ["AWS_SECRET_ACCESS_KEY", "LABEL_STUDIO_API_KEY", "CALLWRIGHT_WEBHOOK_SECRET", "HOME"],
)
def test_a_recipe_reads_no_other_variables(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "very-secret")
    headers = {"extra": {"extra_headers": {"X-Key": f"${{{variable}}}"}}}
    for settings in ({"api_key_variable": variable}, headers):
        with pytest.raises(ConfigurationError, match=f"may not read the variable {variable}"):
            with_secret(read_model("openai/x", settings))
    monkeypatch.setenv("CALLWRIGHT_SECRETS", f"OTHER, {variable}")
    allowed = with_secret(read_model("openai/x", {"api_key_variable": variable}))
    assert allowed.api_key is not None
    assert allowed.api_key.get_secret_value() == "very-secret"
