"""Models by name: settings from the recipe, the adapter, and whether the model can be asked."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import (
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from callwright.llm.asking import Asking, LedgeredChat, Options, Surroundings
from callwright.llm.chat import Adapter
from callwright.llm.known_models import example_models, reasons
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget, Gate, Hedging, Limits, Traffic
from callwright.llm.openai_model import OpenAIModel
from callwright.llm.prices import OwnPrice
from callwright.llm.refusals import LOOPBACK, check_address, check_no_secrets
from callwright.llm.tool_sentences import SentenceFile, sentences_key
from callwright.warehouse.errors import (
    CallwrightError,
    ConfigurationError,
    TransientError,
    first_problem,
)
from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import LlmCall, Record
from callwright.warehouse.registry import Registry, guarded

TEMPLATE = "template/v1"
LOCAL = "local/"
LOCAL_OPENAI = "local_openai/"
LOCAL_SLOTS = 2
SLOWEST_LOCAL = 4.0  # tokens a second, of a reply
BATCH_SLOTS = 10_000
OPENAI = "https://api.openai.com/v1"
LEAN_PROVIDERS = frozenset(
    {"openai", "local_openai", "hosted_vllm", "lm_studio", "llamafile", "litellm_proxy"}
)
# What the adapter itself decides about a request, and what would send it elsewhere or to listeners.
RESERVED = frozenset(
    {"model", "messages", "tools", "response_format", "stream", "n", "api_key", "api_base"}
    | {"base_url", "temperature", "max_tokens", "seed", "timeout", "num_retries"}
    | {"max_retries", "mock_response", "fallbacks", "logger_fn", "callbacks"}
    | {"success_callback", "failure_callback"}
)
# What only a model across a network has.
_REMOTE = (
    "api_base",
    "api_key",
    "api_key_variable",
    "structured",
    "transport",
    "batch",
    "items_per_request",
    "hedge_after",
    "price",
)

# What a server on this machine costs, and how much it bears, unless the recipe says otherwise.
_OWN_SERVER: dict[str, Any] = {
    "concurrency": LOCAL_SLOTS,
    "price": OwnPrice(input=0, output=0),
    "slowest": SLOWEST_LOCAL,
}

CallPath = Literal["in process", "lean", "batch", "litellm"]


class ModelSettings(Record):
    """A model of a recipe.

    The limits, the time-out, the key and the transport do not change what it answers.
    """

    model_config = ConfigDict(strict=True)

    name: str = Field(
        description=(
            "template/v1, local/PATH.gguf, local_openai/MODEL for a server on this machine, or a"
            " litellm name PROVIDER/MODEL."
        )
    )
    seed: int | None = Field(
        default=None, description="Passed on to the model; template/v1 draws from it."
    )
    error_rate: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict,
        description="template/v1 only: shares of replies that get a planted defect.",
    )
    sentences: SkipJsonSchema[tuple[SentenceFile, ...]] = Field(
        default=(),
        exclude=True,
        repr=False,
        description="What a recipe brings for its own tools; set by callwright.",
    )
    api_base: str = Field(
        default="", description="The address of a server that speaks OpenAI's protocol."
    )
    api_key: SecretStr | None = Field(
        default=None,
        exclude=True,
        repr=False,
        description="The key itself; a file is no place for it.",
    )
    api_key_variable: str = Field(
        default="", description="The environment variable that holds the key."
    )
    header_values: dict[str, SecretStr] = Field(
        default_factory=dict,
        exclude=True,
        repr=False,
        description="Values of variables that extra_headers refer to.",
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="From 0 to 2, the model's own unless set."
    )
    max_tokens: int | None = Field(default=None, ge=1, description="The longest reply.")
    structured: Literal["auto", "schema", "prompt"] = Field(
        default="auto", description="How replies get their shape."
    )
    extra: dict[str, JsonValue] = Field(
        default_factory=dict, description="Anything else that the provider takes."
    )
    price: OwnPrice | None = Field(
        default=None,
        description=(
            "Dollars for a million tokens, where litellm's price map has none or another one."
        ),
    )
    timeout: float = Field(default=120.0, gt=0, description="Seconds for one request.")
    slowest: float | None = Field(
        default=None,
        gt=0,
        description=(
            "Tokens a second of the slowest reply that is waited for: the time-out grows with what"
            " a request may read and write."
        ),
    )
    concurrency: int = Field(default=16, ge=1, description="Requests at once: a server's slots.")
    requests_per_minute: int | None = Field(default=None, ge=1, description="The provider's limit.")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="The provider's limit.")
    attempts: int = Field(default=8, ge=1, description="How often a request is tried.")
    patience: float = Field(
        default=300.0,
        ge=0,
        description="Seconds to wait for a model that is away, or for all attempts of a request.",
    )
    hedge_after: float | None = Field(
        default=None, gt=0, description="Seconds after which a request is sent a second time."
    )
    transport: Literal["auto", "lean", "litellm"] = Field(
        default="auto", description="The way requests take."
    )
    batch: bool = Field(default=False, description="Requests go in batches: cheap, within a day.")
    items_per_request: int = Field(
        default=1, ge=1, le=16, description="The judge only: questions in one request."
    )
    batch_gather: float = Field(
        default=5.0, ge=0, description="Seconds without a new request after which a batch goes off."
    )
    batch_poll: float = Field(
        default=60.0, gt=0, description="Seconds between two looks at a batch."
    )

    @model_validator(mode="before")
    @classmethod
    def _as_many_at_once_as_it_takes(cls, given: Any) -> Any:  # noqa: ANN401 - not validated yet
        """Let a batch hold as many open requests as it takes, and a machine of one's own few.

        What the recipe gives stays.
        """
        if isinstance(given, dict) and given.get("batch") is True:
            return {"concurrency": BATCH_SLOTS, **given}
        if isinstance(given, dict) and str(given.get("name", "")).startswith(LOCAL_OPENAI):
            return _OWN_SERVER | given
        return given

    @field_validator("name")
    @classmethod
    def _is_a_form(cls, name: str) -> str:
        provider, _, model = name.partition("/")
        is_named = provider not in {"template", ""} and model not in {"", ".gguf"}
        is_file = not name.startswith(LOCAL) or name.endswith(".gguf")
        if not (name == TEMPLATE or is_named) or name != name.strip() or not is_file:
            raise ValueError(f"there is no model {name!r}; a model is {_forms()}")
        return name

    @field_validator("api_base")
    @classmethod
    def _is_an_address(cls, address: str) -> str:
        parts = urlsplit(address)
        if address and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError(
                f"the api_base {address!r} must begin with http:// or https:// and name a host"
            )
        return check_address(address).rstrip("/")

    @field_validator("extra")
    @classmethod
    def _holds_no_secret(cls, extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
        check_no_secrets(extra)
        return extra

    @model_validator(mode="after")
    def _settings_fit_the_model(self) -> Self:
        if self.error_rate and self.name != TEMPLATE:
            raise ValueError(f"error_rate is for {TEMPLATE} only, not for {self.name!r}")
        fields = type(self).model_fields
        foreign = [name for name in _REMOTE if getattr(self, name) != fields[name].default]
        if foreign and (self.name == TEMPLATE or self.name.startswith(LOCAL)):
            raise ValueError(
                f"{', '.join(foreign)} mean nothing to {self.name!r}, which runs in this process"
            )
        if self.name.startswith(LOCAL_OPENAI) and not self.api_base:
            raise ValueError(
                f"{self.name} needs the api_base of its server, such as http://127.0.0.1:8080/v1"
            )
        if self.transport == "lean" and not self.api_base:
            problem = "transport lean needs the api_base of a server that speaks OpenAI's protocol"
            raise ValueError(problem)
        if self.batch and not self.api_base and not self.name.startswith("openai/"):
            raise ValueError("batch needs the api_base of a server with OpenAI's files and batches")
        if self.batch and (self.items_per_request > 1 or self.transport != "auto"):
            raise ValueError(
                "a batch has one item a request and a way of its own; leave items_per_request and"
                " transport out"
            )
        if self.hedge_after and (self.batch or self.items_per_request > 1):
            raise ValueError(
                "hedge_after is for single requests, not for batches nor with items_per_request"
                " above 1"
            )
        reserved = sorted(RESERVED & set(self.extra))
        if reserved:
            raise ValueError(
                f"extra can't hold {', '.join(reserved)}; these are settings of their own or not"
                " allowed"
            )
        return self

    @property
    def path(self) -> CallPath:
        """How requests are sent: "in process", "lean", "litellm" or "batch".

        `lean` is our own client for OpenAI's protocol, `litellm` serves all providers, and
        `batch` is our own client for OpenAI's files and batches.
        """
        provider = self.name.partition("/")[0]
        if provider in PROVIDERS:
            return "in process"
        if self.batch:
            return "batch"
        if self.transport != "auto":
            return self.transport
        is_lean = self.api_base and provider in LEAN_PROVIDERS and not self._is_particular
        return "lean" if is_lean else "litellm"

    @property
    def _is_particular(self) -> bool:
        """Whether its server may refuse settings in ways that litellm knows about.

        This holds for OpenAI's reasoning models and for unknown ones.
        """
        if not self.name.startswith("openai/"):
            return False
        thinks = reasons(self.name)
        return self.api_base.startswith(OPENAI) if thinks is None else thinks

    @property
    def key_variable(self) -> str:
        """The variable with the key: the named one, or the provider's if litellm won't look."""
        is_ours = self.path in {"lean", "batch"} and not self.api_base.startswith(LOOPBACK)
        if self.api_key_variable or not is_ours:
            return self.api_key_variable
        return f"{self.name.partition('/')[0].upper()}_API_KEY"

    @property
    def limits(self) -> Limits:
        """The rate limits of this model."""
        return Limits(**{name: getattr(self, name) for name in Limits.model_fields})

    @property
    def options(self) -> Options:
        """The settings that may change an answer (also the address), part of the ledger's key."""
        if self.name == TEMPLATE:
            rates = {kind: rate for kind, rate in sorted(self.error_rate.items()) if rate}
            own = (("sentences", sentences_key(self.sentences)),) if self.sentences else ()
            return (("error_rate", rates), ("seed", self.seed or 0), *own)
        settings = {
            "api_base": self.api_base or None,
            "extra": self.extra or None,
            "items_per_request": None if self.items_per_request == 1 else self.items_per_request,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "structured": None if self.structured == "auto" else self.structured,
            "temperature": self.temperature,
        }
        return tuple((name, value) for name, value in settings.items() if value is not None)


def _forms() -> str:
    return (
        "'template/v1' (embedded), 'local/PATH.gguf' (in process), 'local_openai/MODEL' (a server"
        " on this machine, by api_base), "
        f"or a litellm name 'PROVIDER/MODEL' such as {example_models()['small']!r}"
    )


def reads_language(name: str) -> bool:
    """Whether a model reads natural language; template/v1 reads only its own sentences."""
    return name != TEMPLATE


def read_model(name: str, options: Mapping[str, Any] | None = None) -> ModelSettings:
    """Return the settings of model `name`; `options` are checked. Raises ConfigurationError."""
    try:
        return ModelSettings.model_validate({**(options or {}), "name": name})
    except ValidationError as error:
        is_unknown = error.errors()[0]["type"] == "extra_forbidden"
        known_settings = (
            " The settings are"
            f" {', '.join(one for one in ModelSettings.model_fields if one != 'sentences')}."
            if is_unknown
            else ""
        )
        problem = f"The model {name!r} can't be used: {first_problem(error)}.{known_settings}"
        raise ConfigurationError(problem) from error


class Provider(NamedTuple):
    """The part of a model's name before the slash, and what opens it; others are litellm's."""

    name: str
    open: Callable[[ModelSettings], Adapter]


PROVIDERS = Registry("models", Provider, "provider of models", "providers")


def _open_template(settings: ModelSettings) -> Adapter:
    from callwright.llm.template.model import TemplateModel

    seed = settings.seed or 0
    return TemplateModel(seed=seed, error_rate=settings.error_rate, sentences=settings.sentences)


def _open_local(settings: ModelSettings) -> Adapter:
    from callwright.llm.local_model import LocalModel

    path = Path(settings.name.removeprefix(LOCAL))
    return LocalModel(
        path,
        slots=min(settings.concurrency, LOCAL_SLOTS),
        timeout=settings.timeout,
        slowest=settings.slowest,
    )


TEMPLATE_PROVIDER = Provider("template", _open_template)
LOCAL_PROVIDER = Provider("local", _open_local)


def open_adapter(settings: ModelSettings, ledger: Path | None = None) -> Adapter:
    """Return the adapter of a model; nothing is loaded or connected before the first request.

    Batches are kept in the file `ledger`; without it, none can be submitted.
    """
    provider = settings.name.partition("/")[0]
    if provider in PROVIDERS:
        found = PROVIDERS.named(provider)
        with guarded(f"provider of models {provider!r}", found.open):
            return found.open(settings)
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    values = {name: value.get_secret_value() for name, value in settings.header_values.items()}
    shared: dict[str, Any] = {  # of all ways
        "api_key": key,
        "timeout": settings.timeout,
        "slowest": settings.slowest,
        "price": settings.price,
        "header_values": values,
        "ledger": ledger,
    }
    if settings.path == "litellm":
        require_extra("litellm")
        from callwright.llm.litellm_model import LiteLLMModel

        return LiteLLMModel(settings.name, api_key_variable=settings.api_key_variable, **shared)
    shared |= {"api_base": settings.api_base or OPENAI, "api_key_variable": settings.key_variable}
    if settings.path == "batch":
        from callwright.llm.batch_model import BatchModel, BatchPace

        pace = BatchPace(settings.batch_gather, settings.batch_poll, settings.patience)
        return BatchModel(settings.name, pace=pace, **shared)
    return OpenAIModel(settings.name, connections=settings.concurrency, **shared)


def open_chat(  # noqa: PLR0913 - one argument for each thing that stands around a model
    settings: ModelSettings,
    *,
    ledger: Ledger,
    budget: Budget,
    record: Callable[[LlmCall], object],
    build: str = "",
    traffic: Traffic | None = None,
    ready: Callable[[], Awaitable[None]] | None = None,
    stand_in: Adapter | None = None,
    overhear: Callable[[Asking], object] | None = None,
) -> LedgeredChat:
    """Return the model with ledger, limits and budget around it.

    Close it when done, and the ledger after all chats. With a `stand_in`, that answers instead:
    nothing is sent, so `ready` is not needed. `overhear` gets what is asked.
    """
    adapter, hedging = stand_in or open_adapter(settings, ledger.path), None
    if stand_in is None and settings.items_per_request > 1:
        from callwright.llm.packing import PackedModel

        adapter = PackedModel(adapter, settings.items_per_request)
    if stand_in is None and settings.hedge_after is not None:
        hedging = Hedging(settings.hedge_after)
    if traffic:
        gate = Gate(settings.limits, tell=partial(traffic.note_absence, settings.name))
    else:
        gate = Gate(settings.limits)
    around = Surroundings(adapter, ledger, gate, budget, record, build, hedging, traffic)
    around = around._replace(ready=None if stand_in is not None else ready, overhear=overhear)
    return LedgeredChat(settings.name, settings.options, around)


# The variables that hold the keys of well-known providers, as litellm reads them; any of a row will
# do.
KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_AI_TOKEN", "TOGETHER_AI_API_KEY"),
    "cohere": ("COHERE_API_KEY",),
}


def key_variables(settings: ModelSettings) -> tuple[str, ...]:
    """Return variables, one of which must hold the key; empty if none is needed or known."""
    if settings.path == "in process" or settings.api_key is not None:
        return ()
    if settings.api_key_variable:
        return (settings.api_key_variable,)
    # a server of one's own may want none
    if settings.api_base and not settings.api_base.startswith(OPENAI):
        return ()
    return KEYS.get(settings.name.partition("/")[0], ())


def check_key(settings: ModelSettings, secret: Callable[[str], str]) -> None:
    """Raise ConfigurationError if the model's key (read by `secret`), file or extra is missing."""
    if settings.path == "litellm":
        require_extra("litellm")
    variables = key_variables(settings)
    if variables and not any(secret(name) for name in variables):
        raise ConfigurationError(
            f"There is no API key for {settings.name}. Set the environment variable"
            f" {' or '.join(variables)}, or name the variable that holds the key with"
            " api_key_variable."
        )
    if settings.name.startswith(LOCAL):
        require_extra("local")
        if not Path(settings.name.removeprefix(LOCAL)).is_file():
            raise ConfigurationError(
                f"There is no model file {settings.name.removeprefix(LOCAL)!r}. Name a .gguf file"
                " after 'local/'."
            )


class Readiness:
    """The models of a recipe, checked once before the first of them is asked.

    For one event loop.
    """

    def __init__(
        self, models: Iterable[ModelSettings], known: list[ModelSettings] | None = None
    ) -> None:
        """Check models with their keys, except those in `known`; add those found to it.

        If one of them goes away later, requests wait for it.
        """
        self._known = [] if known is None else known
        remote = (model for model in models if model.path != "in process" and model.api_base)
        self._models = [model for model in remote if model not in self._known]
        self._checking: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Check that each server is there and takes the key, once for all callers.

        It asks for the list of models, which costs nothing. Raises TransientError if a server
        can't be reached, and ConfigurationError if the key is refused.
        """
        if self._checking is None:
            self._checking = asyncio.create_task(self._check())
        await asyncio.shield(self._checking)

    async def _check(self) -> None:
        for error in await asyncio.gather(*map(server_problem, self._models)):
            if error is not None:
                raise error
        self._known += self._models


async def server_problem(settings: ModelSettings) -> CallwrightError | None:
    """Return why the server of a model with an `api_base` cannot be asked, or None if it can."""
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    model = OpenAIModel(
        settings.name,
        api_base=settings.api_base,
        api_key=key,
        api_key_variable=settings.key_variable,
        price=settings.price,
    )
    try:
        problem = await model.look()
        is_ours = settings.path != "litellm"  # other providers may take their keys in another way
        return problem if is_ours or isinstance(problem, TransientError) else None
    finally:
        await model.close()
