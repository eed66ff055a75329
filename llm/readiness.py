"""Whether a model can be asked, found out before its first request: its key, its file, and whether its server is there."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from callwright.llm.models import LOCAL, OPENAI, ModelSettings
from callwright.llm.openai_model import OpenAIModel
from callwright.warehouse.errors import CallwrightError, ConfigurationError, TransientError
from callwright.warehouse.extras import require_extra

# The variables that hold the keys of well-known providers, as litellm reads them; any of a row will do.
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
    """The variables of which one must hold the model's key; none where it needs no key, or nobody knows which."""
    if settings.path == "in process" or settings.api_key is not None:
        return ()
    if settings.api_key_variable:
        return (settings.api_key_variable,)
    if settings.api_base and not settings.api_base.startswith(OPENAI):  # a server of one's own may want none
        return ()
    return KEYS.get(settings.name.partition("/")[0], ())


def check_key(settings: ModelSettings, secret: Callable[[str], str]) -> None:
    """Raise ConfigurationError where the model's key or file is missing; `secret` reads a variable."""
    variables = key_variables(settings)
    if variables and not any(secret(name) for name in variables):
        raise ConfigurationError(
            f"There is no key for {settings.name}: set {' or '.join(variables)} in the environment, "
            "or name the variable that holds it (api_key_variable)."
        )
    if settings.name.startswith(LOCAL):
        require_extra("local")
        if not Path(settings.name.removeprefix(LOCAL)).is_file():
            raise ConfigurationError(
                f"There is no model file {settings.name.removeprefix(LOCAL)!r}; name a .gguf file after 'local/'."
            )


class Readiness:
    """The models of a recipe, checked once before the first of them is asked. For one event loop."""

    def __init__(self, models: Iterable[ModelSettings]) -> None:
        """For models with their keys."""
        self._models = [model for model in models if model.path != "in process" and model.api_base]
        self._checking: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Look whether each server is there and takes the key: its list of models is asked for, which costs nothing.

        Raises TransientError where nobody is there, ConfigurationError where the key is refused.
        """
        if self._checking is None:
            self._checking = asyncio.create_task(self._check())
        await asyncio.shield(self._checking)

    async def _check(self) -> None:
        for error in await asyncio.gather(*map(server_problem, self._models)):
            if error is not None:
                raise error


async def server_problem(settings: ModelSettings) -> CallwrightError | None:
    """Why the server of a model with an `api_base` can't be asked, None where it can."""
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    model = OpenAIModel(
        settings.name, api_base=settings.api_base, api_key=key, api_key_variable=settings.key_variable, price=settings.price
    )  # fmt: skip
    try:
        problem = await model.look()
        is_ours = settings.path != "litellm"  # other providers may take their keys in another way
        return problem if is_ours or isinstance(problem, TransientError) else None
    finally:
        await model.close()
