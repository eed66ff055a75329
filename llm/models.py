"""Models by name: the settings a recipe gives them, and the adapter that stands behind each name."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, SecretStr, ValidationError, field_validator, model_validator

from llm.asking import LedgeredChat, Options, Surroundings
from llm.budget import Budget
from llm.chat import Adapter
from llm.ledger import Ledger
from llm.limits import Gate, Limits
from warehouse.errors import ConfigurationError
from warehouse.records import LlmCall, Record

TEMPLATE = "template/v1"
LOCAL = "local/"
LOCAL_SLOTS = 2
FORMS = (
    "'template/v1' (embedded), 'local/PATH.gguf' (in process), "
    "or a litellm name 'PROVIDER/MODEL' such as 'openai/gpt-4o-mini'"
)
# What the adapter itself decides about a request, and what would send it elsewhere or to listeners.
RESERVED = frozenset(
    {"model", "messages", "tools", "response_format", "stream", "n", "api_key", "api_base", "base_url", "temperature"}
    | {"max_tokens", "seed", "timeout", "num_retries", "max_retries", "mock_response", "fallbacks", "logger_fn"}
    | {"callbacks", "success_callback", "failure_callback"}
)


class ModelSettings(Record):
    """A model of a recipe. The limits, the time-out, the key and the transport do not change what it answers."""

    model_config = ConfigDict(strict=True)

    name: str
    seed: int | None = None
    error_rate: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    api_base: str = ""
    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)
    api_key_variable: str = ""
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    structured: Literal["auto", "schema", "prompt"] = "auto"
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    timeout: float = Field(default=120.0, gt=0)
    concurrency: int = Field(default=16, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    attempts: int = Field(default=5, ge=1)
    patience: float = Field(default=300.0, ge=0)
    transport: Literal["auto", "litellm"] = "auto"

    @field_validator("name")
    @classmethod
    def _is_a_form(cls, name: str) -> str:
        provider, _, model = name.partition("/")
        is_known = name == TEMPLATE or (provider not in {"template", ""} and model not in {"", ".gguf"})
        if not is_known or name != name.strip() or (name.startswith(LOCAL) and not name.endswith(".gguf")):
            raise ValueError(f"there is no model {name!r}; a model is {FORMS}")
        return name

    @field_validator("api_base")
    @classmethod
    def _is_an_address(cls, address: str) -> str:
        if address and not address.startswith(("http://", "https://")):
            raise ValueError(f"the api_base {address!r} must begin with http:// or https://")
        return address.rstrip("/")

    @model_validator(mode="after")
    def _settings_fit_the_model(self) -> Self:
        if self.error_rate and self.name != TEMPLATE:
            raise ValueError(f"error_rate is for {TEMPLATE} only, not for {self.name!r}")
        remote = ("api_base", "api_key", "api_key_variable", "structured")
        foreign = [name for name in remote if getattr(self, name) != type(self).model_fields[name].default]
        if foreign and (self.name == TEMPLATE or self.name.startswith(LOCAL)):
            raise ValueError(f"{', '.join(foreign)} mean nothing to {self.name!r}, which runs in this process")
        reserved = sorted(RESERVED & set(self.extra))
        if reserved:
            raise ValueError(f"extra can't hold {', '.join(reserved)}; these are settings of their own or not allowed")
        return self

    @property
    def limits(self) -> Limits:
        """How fast this model may be asked."""
        return Limits(**{name: getattr(self, name) for name in Limits.model_fields})

    @property
    def options(self) -> Options:
        """What may change an answer, and so is part of the ledger's key; the address is: two servers, two models."""
        if self.name == TEMPLATE:
            rates: dict[str, Any] = {kind: rate for kind, rate in sorted(self.error_rate.items()) if rate}
            return (("error_rate", rates), ("seed", self.seed or 0))
        given = {
            "api_base": self.api_base or None,
            "extra": self.extra or None,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "structured": None if self.structured == "auto" else self.structured,
            "temperature": self.temperature,
        }
        return tuple((name, value) for name, value in given.items() if value is not None)


def read_model(name: str, options: Mapping[str, Any] | None = None) -> ModelSettings:
    """The settings of the model `name`, `options` checked strictly. Raises ConfigurationError."""
    try:
        return ModelSettings.model_validate({**(options or {}), "name": name})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "as it is set"
        known = f" The settings are {', '.join(ModelSettings.model_fields)}." if "extra" in first["type"] else ""
        wrong = first["msg"].removeprefix("Value error, ")
        raise ConfigurationError(f"The model {name!r} can't be used ({place}): {wrong}.{known}") from error


def open_adapter(settings: ModelSettings) -> Adapter:
    """The adapter behind a model's name; nothing is loaded or connected before the first request."""
    if settings.name == TEMPLATE:
        from llm.template.model import TemplateModel

        return TemplateModel(seed=settings.seed or 0, error_rate=settings.error_rate)
    if settings.name.startswith(LOCAL):
        from llm.local_model import LocalModel

        path = Path(settings.name.removeprefix(LOCAL))
        return LocalModel(path, slots=min(settings.concurrency, LOCAL_SLOTS), timeout=settings.timeout)
    from llm.litellm_model import LiteLLMModel

    return LiteLLMModel(
        settings.name,
        api_key=settings.api_key.get_secret_value() if settings.api_key else "",
        api_key_variable=settings.api_key_variable,
        timeout=settings.timeout,
    )


def open_chat(
    settings: ModelSettings,
    *,
    ledger: Ledger,
    budget: Budget,
    record: Callable[[LlmCall], object],
    build: str = "",
) -> LedgeredChat:
    """The model with ledger, limits and budget around it; close it when done, and the ledger after all chats."""
    around = Surroundings(open_adapter(settings), ledger, Gate(settings.limits), budget, record, build)
    return LedgeredChat(settings.name, settings.options, around)
