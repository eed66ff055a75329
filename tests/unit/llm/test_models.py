"""Models by name, and the settings a recipe gives them."""

import pytest

from callwright.llm.chat import ChatMessage, ChatRequest, seconds_for
from callwright.llm.limits import Limits
from callwright.llm.litellm_model import LiteLLMModel
from callwright.llm.local_model import LocalModel
from callwright.llm.models import key_variables, open_adapter, read_model
from callwright.llm.openai_model import OpenAIModel
from callwright.llm.prices import OwnPrice
from callwright.warehouse.errors import ConfigurationError
from tests.support.llm.names import ANOTHER, THINKING


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a-model",
        "template/v2",
        "template",
        "/x",
        "openai/",
        "local/",
        "local/.gguf",
        "local/x.bin",
        " a/b",
    ],
)
def test_other_names_are_answered_with_the_forms(name):
    with pytest.raises(ConfigurationError, match=r"template/v1.*local/PATH\.gguf.*" + THINKING):
        read_model(name)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("openai/x", {"temprature": 1}, "The settings are name, seed"),
        ("openai/x", {"temperature": 3}, "temperature"),
        ("openai/x", {"temperature": "hot"}, "temperature"),
        ("openai/x", {"concurrency": "16"}, "concurrency"),
        ("openai/x", {"max_tokens": 0}, "max_tokens"),
        ("openai/x", {"api_base": "127.0.0.1:8000"}, "must begin with http"),
        ("openai/x", {"api_base": "http://[nowhere"}, "api_base"),
        ("openai/x", {"api_base": "http:///v1"}, "name a host"),
        ("openai/x", {"api_base": "http://me:secret@h/v1"}, "can't hold a user or a password"),
        ("openai/x", {"error_rate": {"refusal": 0.1}}, "for template/v1 only"),
        ("template/v1", {"error_rate": {"refusal": 1.5}}, "error_rate"),
        ("template/v1", {"api_base": "http://127.0.0.1"}, "api_base mean nothing to 'template/v1'"),
        ("local/x.gguf", {"api_key": "sk"}, "api_key mean nothing to"),
        ("openai/x", {"extra": {"model": "y"}}, "extra can't hold model"),
        ("openai/x", {"transport": "pigeon"}, "transport"),
        ("openai/x", {"transport": "lean"}, "lean needs the api_base"),
        ("local_openai/x", {}, "local_openai/x needs the api_base of its server"),
        ("template/v1", {"transport": "lean"}, "transport mean nothing to 'template/v1'"),
    ],
)
def test_wrong_settings_are_named(name, options, words):
    with pytest.raises(ConfigurationError, match=words):
        read_model(name, options)


def test_what_changes_an_answer_is_part_of_its_key():
    settings = read_model(
        "openai/x",
        {
            "seed": 1,
            "temperature": 0,
            "max_tokens": 9,
            "api_base": "http://h/v1/",
            "extra": {"top_p": 1},
        }
        | {"structured": "prompt"},
    )
    assert settings.options == (
        ("api_base", "http://h/v1"),
        ("extra", {"top_p": 1}),
        ("max_tokens", 9),
        ("seed", 1),
        ("structured", "prompt"),
        ("temperature", 0.0),
    )
    template = read_model(
        "template/v1", {"seed": 4, "error_rate": {"refusal": 0.1, "extra argument": 0.0}}
    )
    assert template.options == (("error_rate", {"refusal": 0.1}), ("seed", 4))


def test_what_does_not_change_an_answer_is_not():
    quick = {
        "concurrency": 2,
        "requests_per_minute": 3,
        "tokens_per_minute": 4,
        "attempts": 1,
        "patience": 5.0,
    }
    secret = {"api_key": "sk-secret", "api_key_variable": "K", "timeout": 6, "transport": "litellm"}
    settings = read_model("openai/x", quick | secret)

    assert settings.options == read_model("openai/x").options == ()
    assert settings.limits == Limits(**quick)


def test_a_server_on_this_machine_has_few_slots_costs_nothing_and_is_waited_for():
    own = read_model("local_openai/small", SERVER)
    assert (own.concurrency, own.price, key_variables(own)) == (2, OwnPrice(input=0, output=0), ())
    assert own.options == (("api_base", SERVER["api_base"]),)
    given = read_model("local_openai/small", SERVER | {"concurrency": 4, "slowest": 1.0})
    assert (given.concurrency, given.slowest) == (4, 1.0)


def test_a_time_out_grows_with_what_is_read_and_written():
    def asked(words, **options):
        messages = (ChatMessage(role="user", content="word" * words),)
        return ChatRequest("m", messages, None, (), tuple(sorted(options.items())), 0)

    assert seconds_for(asked(500), 120.0, None) == 120
    assert seconds_for(asked(500, max_tokens=60), 120.0, 4.0) == 120 + (500 / 5 + 60) / 4
    assert seconds_for(asked(500), 120.0, 4.0) > seconds_for(asked(400), 120.0, 4.0)


@pytest.mark.parametrize(
    ("name", "adapter"), [("openai/x", LiteLLMModel), ("local/x.gguf", LocalModel)]
)
async def test_each_form_has_its_adapter(name, adapter):
    opened = open_adapter(read_model(name))
    assert isinstance(opened, adapter)
    await opened.close()


SERVER = {"api_base": "http://127.0.0.1:8000/v1"}


@pytest.mark.parametrize(
    ("name", "told", "path"),
    [
        ("template/v1", {}, "in process"),
        ("local/x.gguf", {}, "in process"),
        (ANOTHER, {}, "litellm"),
        (ANOTHER, SERVER, "lean"),
        ("hosted_vllm/org/model", SERVER, "lean"),
        ("local_openai/model", SERVER, "lean"),
        (THINKING, SERVER, "litellm"),
        ("openai/not-yet-known", SERVER, "lean"),
        ("openai/not-yet-known", {"api_base": "https://api.openai.com/v1"}, "litellm"),
        (ANOTHER, {"api_base": "https://api.openai.com/v1"}, "lean"),
        (THINKING, SERVER | {"transport": "lean"}, "lean"),
        ("anthropic/claude-x", SERVER, "litellm"),
        ("anthropic/claude-x", SERVER | {"transport": "lean"}, "lean"),
        (ANOTHER, SERVER | {"transport": "litellm"}, "litellm"),
    ],
)
async def test_the_path_can_be_seen_and_forced(name, told, path):
    settings = read_model(name, told)
    adapter = open_adapter(settings)

    assert settings.path == path
    assert isinstance(adapter, OpenAIModel) == (path == "lean")
    await adapter.close()


@pytest.mark.parametrize(
    ("name", "told", "variable"),
    [
        ("openai/x", SERVER, ""),
        ("openai/x", SERVER | {"api_key_variable": "MINE"}, "MINE"),
        ("openai/x", {"api_base": "https://models.example/v1"}, "OPENAI_API_KEY"),
        ("hosted_vllm/x", {"api_base": "https://models.example/v1"}, "HOSTED_VLLM_API_KEY"),
        ("openai/x", {}, ""),
        ("openai/x", {"api_base": "https://models.example/v1", "transport": "litellm"}, ""),
    ],
)
def test_the_key_is_looked_for_where_litellm_would(name, told, variable):
    assert read_model(name, told).key_variable == variable


async def test_the_template_is_opened_with_its_seed_and_its_errors():
    from callwright.llm.template.model import TemplateModel

    opened = open_adapter(read_model("template/v1", {"seed": 3, "error_rate": {"refusal": 0.1}}))
    assert isinstance(opened, TemplateModel)
    await opened.close()
