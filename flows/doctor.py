"""Examines this machine: what callwright can use here, and how to add the rest."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from callwright.flows.loops import run_loop
from callwright.flows.plugins import plugins
from callwright.flows.review.servers import label_studio_address
from callwright.flows.run.work import distinct_models, with_secret
from callwright.flows.settings import Settings, open_warehouse, read_settings, secret
from callwright.language.readers.duckling_reader import is_available
from callwright.llm.known_models import end_of, known_model, taken_options
from callwright.llm.models import KEYS, ModelSettings, check_key, server_problem
from callwright.llm.prices import unpriced_sentence
from callwright.llm.stand_in import price_of
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError, StoreError
from callwright.warehouse.extras import EXTRAS, command_for


class SystemPart(NamedTuple):
    """A part of the system: "ready", "absent" (an optional one is missing), or "broken".

    "broken" means that something needed is missing.
    """

    part: str
    state: Literal["ready", "absent", "broken"]
    advice: str


def examine(recipe: Path | None = None) -> list[SystemPart]:
    """Examine each part once, and the models of a recipe, without starting or changing anything."""
    settings = read_settings()
    free = shutil.disk_usage(settings.home if settings.home.exists() else Path()).free // 2**20
    return [
        *_models(recipe),
        SystemPart("work folder", "ready", f"{settings.home} ({free:,} MB free)"),
        _warehouse(settings),
        _optional(
            "Prefect server",
            settings.prefect_api_url,
            "run `prefect server start` and set PREFECT_API_URL",
        ),
        _optional(
            "Label Studio",
            label_studio_address(settings),
            "run `callwright review serve`, or set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY",
        ),
        _optional(
            "Duckling",
            "reads times and amounts" if is_available() else "",
            "in the extra build, for Linux on x86_64 only; without it fewer values are proved",
        ),
        *(
            _optional(
                f"extra {name}",
                extra.purpose if extra.is_installed else "",
                f"{extra.purpose}: {command_for(name)}",
            )
            for name, extra in EXTRAS.items()
        ),
        _optional(
            "Chromium, for browser tests",
            shutil.which("chromium-headless-shell") or shutil.which("chromium") or "",
            "apt-get install chromium-headless-shell",
        ),
        *(
            SystemPart(
                f"{one.table}: {one.name}",
                "broken" if one.problem else "ready",
                one.problem or f"from {one.package}",
            )
            for one in plugins()
        ),
    ]


def _models(recipe: Path | None) -> list[SystemPart]:
    """Return which keys are set; with a recipe, whether each model has key, server and price."""
    if recipe is None:
        key_names = [name for names in KEYS.values() for name in names if secret(name)]
        return [
            _optional(
                "model keys",
                ", ".join(key_names),
                "none set; template/v1 needs none, others need one, such as OPENAI_API_KEY",
            )
        ]
    from callwright.flows.recipe import read_recipe_to_build

    return [_model(one) for one in distinct_models(read_recipe_to_build(recipe))]


def _model(settings: ModelSettings) -> SystemPart:
    part = f"model {settings.name}"
    try:
        check_key(settings, secret)
        if (
            settings.api_base
            and (problem := run_loop(server_problem(with_secret(settings)))) is not None
        ):
            return SystemPart(part, "broken", str(problem))
    except ConfigurationError as error:
        return SystemPart(part, "broken", str(error))
    if settings.path == "in process":
        return SystemPart(part, "ready", "in this process")
    price = price_of(settings)
    dollars = f"${price.prompt * 1e6:.2f} in, ${price.completion * 1e6:.2f} out per million tokens"
    known = f"{settings.path}; {dollars}" if price.is_known else unpriced_sentence(settings.name)
    is_over = (end := end_of(settings.name)) is not None and end <= datetime.now(UTC).date()
    return SystemPart(
        part, "broken" if is_over else "ready", "; ".join([known, *_known_of(settings)])
    )


def _known_of(settings: ModelSettings) -> Iterator[str]:
    """Yield what litellm's map says of a model besides its price."""
    name = settings.name
    if not EXTRAS["litellm"].is_installed:
        return
    if not known_model(name):
        yield "litellm does not know this model"
        return
    if settings.temperature is not None and "temperature" not in taken_options(
        name, dict(settings.options)
    ):
        yield "it takes no temperature, so none is sent"
    end = end_of(name)
    when = "has no announced end" if end is None else f"ends on {end}: name another model"
    yield f"according to litellm, it {when}"


def _warehouse(settings: Settings) -> SystemPart:
    if not settings.warehouse.exists():
        return SystemPart("warehouse", "absent", "created by the first build")
    try:
        count = open_warehouse(settings._replace(patience=1)).rows(
            "select count(*) as n from accepted_samples"
        )[0]["n"]
    except StoreError as error:
        return SystemPart("warehouse", "broken", str(error))
    return SystemPart("warehouse", "ready", count_of(count, "accepted sample"))


def _optional(part: str, found: str, advice: str) -> SystemPart:
    return SystemPart(part, "ready", found) if found else SystemPart(part, "absent", advice)
