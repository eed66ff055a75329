"""What litellm's own map says about a model: what it accepts and when it ends.

The map is read as a data file because litellm is slow to import. Without the extra `litellm` it
lists no model.
"""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson

from callwright.warehouse.extras import EXTRAS, require_extra

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_MAP = "model_prices_and_context_window_backup.json"
# a version of a model, by the day on which it came out
_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")


@cache
def example_models() -> dict[str, str]:
    """Return models to name as examples: "small", "other" (of another maker) and "large"."""
    # Plain lines, read without yaml: help texts name models, and have no time for it.
    text = files("callwright.llm").joinpath("examples.yaml").read_text(encoding="utf-8")
    stated = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {use: name for use, _, name in stated if use != "looked_at"}


def known_model(name: str) -> Mapping[str, Any]:
    """Return the map's entry for the model PROVIDER/MODEL, or an empty mapping."""
    provider, _, model = name.partition("/")
    entry = known_models().get(name) or known_models().get(model) or {}
    return entry if _maker(entry) == provider else {}


def reasons(name: str) -> bool | None:
    """Whether a model reasons before it answers, or None if the map does not list it."""
    entry = known_model(name)
    return bool(entry.get("supports_reasoning")) if entry else None


def end_of(name: str) -> date | None:
    """Return the day on which a model is retired, or None if none is announced.

    A name without a date ends with the last of its dated versions, if each of them has a date.
    """
    entry = known_model(name)
    if stated := entry.get("deprecation_date"):
        return date.fromisoformat(stated)
    model = name if name in known_models() else name.partition("/")[2]
    dated = ((other, one) for other, one in known_models().items() if model != other)
    alike = (one for other, one in dated if _DATED.sub("", other) == model)
    ends = [one.get("deprecation_date") or "" for one in alike if _maker(one) == _maker(entry)]
    return date.fromisoformat(max(ends)) if entry and ends and all(ends) else None


def taken_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return which of temperature, max_tokens and seed a model takes, by its names for them."""
    entry = known_model(name)
    taken = {
        part: options[part] for part in ("temperature", "max_tokens", "seed") if part in options
    }
    is_thinking = entry.get("litellm_provider") == "openai" and bool(
        entry.get("supports_reasoning")
    )
    if is_thinking and "max_tokens" in taken:
        taken["max_completion_tokens"] = taken.pop("max_tokens")
    effort = options.get("extra", {}).get("reasoning_effort", entry.get("default_reasoning_effort"))
    is_fixed = entry.get("supports_sampling_params") is False or (is_thinking and effort != "none")
    if is_fixed and taken.get("temperature") != 1:
        taken.pop("temperature", None)
    return taken


@cache
def known_models() -> dict[str, dict[str, Any]]:
    """Return the whole map, by litellm's names; empty if litellm is not installed."""
    if not EXTRAS["litellm"].is_installed:
        return {}
    return dict(orjson.loads((litellm_folder() / _MAP).read_bytes()))


def litellm_folder() -> Path:
    """Return the folder of litellm, without importing it. Raise ConfigurationError if missing."""
    require_extra("litellm")
    return Path(str(cast("ModuleSpec", find_spec("litellm")).origin)).parent


def _maker(entry: Mapping[str, Any]) -> str:
    """Return an entry's provider without its kind: "vertex_ai" of "vertex_ai-language-models"."""
    return str(entry.get("litellm_provider", "")).partition("-")[0].removesuffix("_converse")
