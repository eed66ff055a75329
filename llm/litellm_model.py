"""litellm: any provider by name. The only importer of it, and that late: it takes seconds to load."""

import asyncio
import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import cache
from types import ModuleType
from typing import Any, ClassVar, NoReturn, cast

import orjson

from llm.chat import ChatMessage, ChatRequest, RawReply
from llm.tool_calls import WrittenCall, as_text, read_calls, wire_names, wire_tools
from warehouse.errors import CallwrightError, ConfigurationError, ReplyError, TransientError

_SHOWN = 300
_GRACE = 10.0  # litellm keeps the time-out between bytes; this ends a reply that comes byte by byte
_SCHEMA_KNOWN = frozenset({"hosted_vllm", "lm_studio", "ollama_chat"})  # litellm knows no single model of theirs
_LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")
_NOT_TRANSIENT = ("insufficient_quota", "exceeded your current quota")
_ABOUT_THE_MODEL = ("LLM Provider NOT provided", "model_not_found", "does not exist", "Unknown model", "Invalid model")

_THEIR_NAMES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?:: | - ))+")

logger = logging.getLogger(__name__)


class LiteLLMModel:
    """One model behind litellm; what may change its answers comes with each request's options."""

    _open: ClassVar[int] = 0  # litellm keeps its connections for the whole process

    def __init__(self, name: str, *, api_key: str = "", api_key_variable: str = "", timeout: float = 120.0) -> None:
        """Ask the model `name` (litellm's); `api_key` is "" where litellm may look for one itself."""
        self._name = name
        self._api_key = api_key
        self._variable = api_key_variable
        self._timeout = timeout
        self._loading = asyncio.Lock()
        self._litellm: Any = None  # a module without types
        self._prices: Mapping[str, Any] | None = None
        self._is_open = True
        LiteLLMModel._open += 1

    async def send(self, request: ChatRequest) -> RawReply:
        """Ask once: litellm's own retries are off."""
        litellm = await self._load()
        names = wire_names(request.tools)
        arguments = self._arguments(request, names)
        try:
            async with asyncio.timeout(self._timeout + _GRACE):
                response = await litellm.acompletion(**arguments)
        except (litellm.exceptions.Timeout, TimeoutError) as error:
            raise TransientError(f"{self._name} gave no answer within {self._timeout:g} s.") from error
        except litellm.exceptions.openai.OpenAIError as error:
            self._raise_ours(error)
        return self._read(response, names)

    async def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost by litellm's price map; 0 where it lacks the model."""
        await self._load()
        if self._prices is None:
            return 0.0
        inward, outward = (self._prices.get(f"{side}_cost_per_token") or 0.0 for side in ("input", "output"))
        return float(prompt_tokens * inward + completion_tokens * outward)

    async def close(self) -> None:
        """Close litellm's connections when the last of its models closes."""
        if not self._is_open:
            return
        self._is_open = False
        LiteLLMModel._open -= 1
        if self._litellm is not None and LiteLLMModel._open == 0:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    async def _load(self) -> Any:  # noqa: ANN401 - a module without types
        if self._litellm is None:
            async with self._loading:
                if self._litellm is None:
                    litellm = await asyncio.to_thread(load_litellm)
                    self._prices = _prices(litellm, self._name)
                    self._litellm = litellm
        return self._litellm

    def _arguments(self, request: ChatRequest, names: dict[str, str]) -> dict[str, Any]:
        options = dict(request.options)
        api_base = options.get("api_base")
        # Without a key litellm takes the account's own from the environment: not for whatever listens on this machine.
        stand_in = "none" if str(api_base).startswith(_LOOPBACK) else None
        arguments: dict[str, Any] = {
            "model": self._name,
            "api_key": self._api_key or stand_in,
            "api_base": api_base,
            "timeout": self._timeout,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,
            **{name: options[name] for name in ("temperature", "max_tokens", "seed") if name in options},
            **options.get("extra", {}),
        }
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        if request.tools:
            arguments["tools"] = wire_tools(request.tools, names)
        if request.schema is not None and self._takes_schemas(str(options.get("structured", "auto"))):
            schema = {"name": "answer", "schema": request.schema, "strict": False}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.schema is not None:
            messages = _with_schema(request.messages, request.schema)
        return {**arguments, "messages": messages}

    def _takes_schemas(self, structured: str) -> bool:
        if structured != "auto":
            return structured == "schema"
        return self._name.split("/")[0] in _SCHEMA_KNOWN or bool(self._litellm.supports_response_schema(self._name))

    def _read(self, response: Any, names: dict[str, str]) -> RawReply:  # noqa: ANN401 - litellm's ModelResponse
        if not response.choices:
            raise TransientError(f"{self._name} answered without a choice.")
        choice = response.choices[0]
        if choice.finish_reason == "content_filter":
            raise ReplyError(f"The provider's content filter withheld the reply of {self._name}.")
        text = choice.message.content or ""
        written = [
            WrittenCall(call.function.name or "", call.function.arguments or "")
            for call in choice.message.tool_calls or ()
        ]
        calls = read_calls(written, names)
        if written and calls is None:
            text = "\n".join(part for part in (text, as_text(written)) if part)
        usage = getattr(response, "usage", None)
        prompt_tokens, completion_tokens = (
            int(getattr(usage, f"{side}_tokens", 0) or 0) for side in ("prompt", "completion")
        )
        cost = self._cost(response) if prompt_tokens + completion_tokens else 0.0  # without usage litellm would count
        return RawReply(text, calls, prompt_tokens, completion_tokens, cost)

    def _cost(self, response: Any) -> float:  # noqa: ANN401 - litellm's ModelResponse
        if self._prices is None:
            return 0.0
        return float(self._litellm.completion_cost(completion_response=response, model=self._name))

    def _raise_ours(self, error: Exception) -> NoReturn:
        said = _said(error, self._api_key)
        vendor = self._litellm.exceptions
        raise _translated(error, vendor, self._name, said, self._variable or self._key_variable()) from error

    def _key_variable(self) -> str:
        missing = self._litellm.validate_environment(self._name)["missing_keys"]
        return str(missing[0]) if missing else f"{self._name.split('/')[0].upper()}_API_KEY"


def load_litellm() -> ModuleType:
    """litellm, imported without a look at the network and told to keep quiet."""
    with _no_price_map_download():
        import litellm
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    return cast(ModuleType, litellm)


@contextmanager
def _no_price_map_download() -> Iterator[None]:
    """Say no where litellm fetches its price map at import, with httpx.get; the environment may have said so too."""
    import httpx

    def refuse(*_arguments: object, **_options: object) -> NoReturn:
        raise httpx.UnsupportedProtocol("callwright uses the price map that litellm brings along")

    def is_news(record: logging.LogRecord) -> bool:
        return "model cost map" not in record.getMessage()

    their_logger, get = logging.getLogger("LiteLLM"), httpx.get
    their_logger.addFilter(is_news)
    httpx.get = refuse
    try:
        yield
    finally:
        httpx.get = get
        their_logger.removeFilter(is_news)


def _prices(litellm: Any, name: str) -> Mapping[str, Any] | None:  # noqa: ANN401 - a module without types
    try:
        return dict(litellm.get_model_info(name))
    except litellm.exceptions.ModelNotMappedError:
        _say_unpriced(name)
        return None


@cache
def _say_unpriced(name: str) -> None:
    """Warn once a process, however many shards open the model."""
    logger.warning("litellm has no price for %s: its requests count as free, and no budget stops them", name)


def _translated(error: Exception, vendor: Any, name: str, said: str, variable: str) -> CallwrightError:  # noqa: ANN401 - a module without types
    match error:
        case vendor.ContextWindowExceededError():
            return ReplyError(f"The request is longer than {name} can read: {said}")
        case vendor.ContentPolicyViolationError():
            return ReplyError(f"The provider's content policy refuses the request to {name}: {said}")
        case vendor.AuthenticationError() | vendor.PermissionDeniedError():
            return ConfigurationError(f"The provider refuses the key for {name}; set {variable} to a valid one: {said}")
        case vendor.NotFoundError():
            return ConfigurationError(f"There is no model {name!r} there; see its name and api_base: {said}")
        case vendor.PaymentRequiredError() | vendor.RateLimitError() if _is_about_money(error, vendor, said):
            return ConfigurationError(
                f"The account behind {name} has no money left; see to it, or set {variable}: {said}"
            )
        case vendor.BadRequestError() | vendor.UnprocessableEntityError():
            if any(mark in said for mark in _ABOUT_THE_MODEL) or isinstance(error, vendor.UnsupportedParamsError):
                return ConfigurationError(
                    f"The model {name!r} can't be asked like this; see its name and settings: {said}"
                )
            return ReplyError(f"The provider refuses a request to {name}: {said}")
    return TransientError(f"{name} can't answer now: {said}", _retry_after(error))


def _is_about_money(error: Exception, vendor: Any, said: str) -> bool:  # noqa: ANN401 - a module without types
    return isinstance(error, vendor.PaymentRequiredError) or any(mark in said for mark in _NOT_TRANSIENT)


def _said(error: Exception, api_key: str) -> str:
    said = _THEIR_NAMES.sub("", " ".join(str(error).split()))
    if api_key:
        said = said.replace(api_key, "***")
    return said[:_SHOWN]


def _retry_after(error: Exception) -> float | None:
    headers = getattr(error, "litellm_response_headers", None) or getattr(
        getattr(error, "response", None), "headers", {}
    )
    milliseconds, wish = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if wish is None:
            return None
        return max(0.0, float(wish) if wish[:1].isdigit() and "," not in wish else _until(wish))
    except ValueError:
        return None  # the server said something that is neither seconds nor a date


def _until(moment: str) -> float:
    return parsedate_to_datetime(moment).timestamp() - time.time()


def _with_schema(messages: tuple[ChatMessage, ...], schema: dict[str, Any]) -> list[dict[str, str]]:
    """The messages with the schema told in the first one, for providers that take none."""
    wish = f"Reply with nothing but a JSON object that fits this JSON Schema:\n{orjson.dumps(schema).decode()}"
    said = [{"role": message.role, "content": message.content} for message in messages]
    if said and said[0]["role"] == "system":
        return [{"role": "system", "content": f"{said[0]['content']}\n\n{wish}"}, *said[1:]]
    return [{"role": "system", "content": wish}, *said]
