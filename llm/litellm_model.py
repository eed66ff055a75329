"""litellm: any provider by name.

Only this module imports it, and only when needed, since it takes seconds to load.
"""

import asyncio
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NoReturn, cast

from callwright.llm.answer_schemas import AnswerForms, RefusedError, StatedSchema
from callwright.llm.chat import ChatRequest, RawReply, seconds_for
from callwright.llm.known_models import taken_options
from callwright.llm.prices import OwnPrice, Usage, find_price, read_usage, say_unpriced
from callwright.llm.refusals import (
    AWAY,
    HEADERS,
    LOOPBACK,
    AskedModel,
    Kind,
    is_about_money,
    read_retry_after,
    refusal,
    with_values,
    without_values,
)
from callwright.llm.wire_format import (
    WireCall,
    read_content,
    read_reasoning,
    read_reply,
    wire_question,
)
from callwright.warehouse.errors import CallwrightError, ReplyError, TransientError
from callwright.warehouse.wire_names import WireNames, wire_names

_GRACE = 10.0  # litellm keeps the time-out between bytes; this ends a reply that comes byte by byte
_ABOUT_THE_MODEL = (
    "LLM Provider NOT provided",
    "model_not_found",
    "does not exist",
    "Unknown model",
    "Invalid model",
)
_NOT_READ = "Invalid response object"  # litellm's words for a reply of another form
_KINDS: tuple[tuple[str, Kind], ...] = (  # the first that fits: some are kinds of others
    ("ContextWindowExceededError", "too long"),
    ("ContentPolicyViolationError", "policy"),
    ("AuthenticationError", "key"),
    ("PermissionDeniedError", "key"),
    ("NotFoundError", "no model"),
    ("PaymentRequiredError", "money"),
    ("UnsupportedParamsError", "settings"),
    ("BadRequestError", "request"),
    ("UnprocessableEntityError", "request"),
)
_THEIR_NAMES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?:: | - ))+")


class LiteLLMModel:
    """One model behind litellm; each request's options carry whatever may change its answers."""

    _open: ClassVar[int] = 0  # litellm keeps its connections for the whole process

    def __init__(  # noqa: PLR0913 - one argument for each setting of a model that is not sent
        self,
        name: str,
        *,
        api_key: str = "",
        api_key_variable: str = "",
        timeout: float = 120.0,
        slowest: float | None = None,
        price: OwnPrice | None = None,
        header_values: Mapping[str, str] | None = None,
        ledger: Path | None = None,
    ) -> None:
        """Ask the model `name` (litellm's); `api_key` is "" if litellm may look for one itself.

        The file `ledger` stores which form of schema its server accepts.
        """
        self._name = name
        self._api_key = api_key
        self._variable = api_key_variable
        self._header_values = header_values or {}
        self._timeout, self._slowest = timeout, slowest
        self._loading = asyncio.Lock()
        self._litellm: Any = None  # a module without types
        self._own_price = None if price is None else find_price(name, own=price)
        self._prices: Mapping[str, Any] | None = None
        self._takes_schemas = False  # as litellm knows the model
        self._forms = AnswerForms(name, ledger)
        self._is_open = True
        LiteLLMModel._open += 1

    async def send(self, request: ChatRequest) -> RawReply:
        """Ask once, without litellm's retries, and again for each schema form that is refused."""
        litellm = await self._load()
        names, error_classes = wire_names(request.tools), litellm.exceptions
        seconds = seconds_for(request, self._timeout, self._slowest)
        wrong = (
            error_classes.BadRequestError
            | error_classes.UnprocessableEntityError
            | error_classes.InternalServerError
        )

        async def send(stated: StatedSchema | None) -> RawReply:
            # Spares the reports that litellm writes for listeners of each request: we have none,
            # and there is no public switch.
            litellm._internal_context.is_internal_call.set(True)  # noqa: SLF001
            try:
                async with asyncio.timeout(seconds + _GRACE):
                    response = await litellm.acompletion(**self._arguments(request, names, stated))
            except (error_classes.Timeout, TimeoutError) as error:
                text = f"{self._name} gave no answer within {seconds:g} s."
                raise TransientError(text, may_be_charged=True) from error
            except error_classes.openai.OpenAIError as error:
                ours = self._ours(error)
                raise (
                    RefusedError(str(error), ours) if isinstance(error, wrong) else ours
                ) from error
            return self._read(response)

        return await self._forms.ask(request, send, is_known=self._takes_schemas)

    async def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of so many tokens by the recipe or else litellm's price map, or 0."""
        await self._load()
        if self._own_price is not None:
            return self._own_price.of(prompt_tokens, completion_tokens)
        if self._prices is None:
            return 0.0
        inward, outward = (
            self._prices.get(f"{side}_cost_per_token") or 0.0 for side in ("input", "output")
        )
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
                    self._prices = None if self._own_price else _prices(litellm, self._name)
                    self._takes_schemas = bool(litellm.supports_response_schema(self._name))
                    self._litellm = litellm
        return self._litellm

    def _arguments(
        self, request: ChatRequest, names: WireNames, stated: StatedSchema | None
    ) -> dict[str, Any]:
        options = dict(request.options)
        api_base = options.get("api_base")
        # Without a key litellm takes the account's own from the environment: not for whatever
        # listens on this machine.
        stand_in = "none" if str(api_base).startswith(LOOPBACK) else None
        # its look for MCP servers among the tools needs the package mcp; ours are none
        arguments: dict[str, Any] = {
            "model": self._name,
            "api_key": self._api_key or stand_in,
            "api_base": api_base,
            "timeout": seconds_for(request, self._timeout, self._slowest),
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,
            "_skip_mcp_handler": (True),
            **taken_options(self._name, options),
            **options.get("extra", {}),
        }
        if headers := arguments.get(HEADERS):
            told = ((name, str(text)) for name, text in headers.items())
            arguments[HEADERS] = {name: with_values(one, self._header_values) for name, one in told}
        return arguments | wire_question(request, names, stated)

    def _read(self, response: Any) -> RawReply:  # noqa: ANN401 - litellm's ModelResponse
        if not response.choices:
            raise TransientError(f"{self._name} answered without a choice.", may_be_charged=True)
        choice = response.choices[0]
        if choice.finish_reason == "content_filter":
            problem = f"The provider's content filter withheld the reply of {self._name}."
            raise ReplyError(problem, may_be_charged=True)
        made = (call.function for call in choice.message.tool_calls or ())
        written = [WireCall(call.name or "", call.arguments or "") for call in made]
        said = read_content(choice.message.content)
        reasoning = read_reasoning(getattr(choice.message, "reasoning_content", None), said)
        text, calls = read_reply(said, written)
        stated = getattr(response, "usage", None)
        usage = read_usage(stated.model_dump() if stated is not None else {})
        # without usage litellm would count
        cost = self._cost(response, usage) if usage.prompt else 0.0
        is_cut = choice.finish_reason == "length"
        return RawReply(
            text, calls, usage.prompt, usage.completion, cost, is_cut=is_cut, reasoning=reasoning
        )

    def _cost(self, response: Any, usage: Usage) -> float:  # noqa: ANN401 - litellm's ModelResponse
        if self._own_price is not None:
            return self._own_price.of(*usage)
        if self._prices is None:
            return 0.0
        if not isinstance(response.model, str):  # as the server named it
            response.model = self._name
        return float(self._litellm.completion_cost(completion_response=response, model=self._name))

    def _ours(self, error: Exception) -> CallwrightError:
        """Convert litellm's error to one of callwright's errors."""
        parts = without_values(self._header_values)(str(error)).split()
        text = _THEIR_NAMES.sub("", " ".join(parts))
        variable, vendor = self._variable, self._litellm.exceptions
        if not variable:
            missing = self._litellm.validate_environment(self._name)["missing_keys"]
            variable = str(missing[0]) if missing else f"{self._name.split('/')[0].upper()}_API_KEY"
        response = getattr(error, "response", None)
        headers = getattr(error, "litellm_response_headers", None) or getattr(
            response, "headers", {}
        )
        asked = AskedModel(self._name, self._api_key, variable)
        ours = refusal(_kind(error, vendor, text), asked, text, read_retry_after(headers))
        if isinstance(ours, TransientError):
            ours.may_be_charged = _was_sent(error, vendor)
        return ours


def load_litellm() -> ModuleType:
    """Import litellm without network access and with its output silenced."""
    with _no_price_map_download():
        import litellm
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    # builds its schemas here, behind the filters for warnings that the import has just set
    litellm.ModelResponse()
    return cast(ModuleType, litellm)


@contextmanager
def _no_price_map_download() -> Iterator[None]:
    """Refuse litellm's download of its price map by httpx.get at import.

    The environment may forbid it as well.
    """
    import httpx

    def refuse(*_arguments: object, **_options: object) -> NoReturn:
        raise httpx.UnsupportedProtocol("callwright uses the price map that litellm brings along")

    def is_unreported(record: logging.LogRecord) -> bool:
        return "model cost map" not in record.getMessage()

    their_logger, get = logging.getLogger("LiteLLM"), httpx.get
    their_logger.addFilter(is_unreported)
    httpx.get = refuse
    try:
        yield
    finally:
        httpx.get = get
        their_logger.removeFilter(is_unreported)


def _prices(litellm: Any, name: str) -> Mapping[str, Any] | None:  # noqa: ANN401 - a module without types
    try:
        return dict(litellm.get_model_info(name))
    except litellm.exceptions.ModelNotMappedError:
        say_unpriced(name)
        return None


def _kind(error: Exception, vendor: Any, text: str) -> Kind:  # noqa: ANN401 - a module without types
    otherwise: Kind = (
        "away"
        if getattr(error, "status_code", 0) in AWAY or _is_caused_by(error, _REFUSED)
        else "busy"
    )
    found = (kind for name, kind in _KINDS if isinstance(error, getattr(vendor, name)))
    kind: Kind = next(found, otherwise)
    if _NOT_READ in text:
        return "unusable"
    if kind == "request" and any(mark in text for mark in _ABOUT_THE_MODEL):
        return "settings"
    return "money" if isinstance(error, vendor.RateLimitError) and is_about_money(text) else kind


_REFUSED = ("ConnectError", "ConnectTimeout", "ClientConnectorError")  # nobody was there
_NOT_LOST = (*_REFUSED, "HTTPStatusError")  # never sent, or refused


def _was_sent(error: Exception, vendor: Any) -> bool:  # noqa: ANN401 - a module without types
    """Whether a request reached its server but lost its answer, so that it may be charged for."""
    if not isinstance(error, vendor.APIConnectionError | vendor.InternalServerError):
        return False
    return not _is_caused_by(error, _NOT_LOST)


def _is_caused_by(error: BaseException, names: tuple[str, ...]) -> bool:
    """Whether a cause of the error has a class name that starts with one of these."""
    cause = error.__cause__ or error.__context__
    return error.__class__.__name__.startswith(names) or (
        cause is not None and _is_caused_by(cause, names)
    )
