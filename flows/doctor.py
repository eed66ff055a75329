"""Looking at this machine: what callwright can use here, and what to do about the rest."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from flows.settings import Settings, open_warehouse, read_settings
from warehouse.errors import StoreError


class SystemPart(NamedTuple):
    """One part: "ready", "absent" where something optional is missing, "broken" where something needed is."""

    part: str
    state: Literal["ready", "absent", "broken"]
    advice: str


def examine() -> list[SystemPart]:
    """Look at each part once; nothing is started or changed."""
    settings = read_settings()
    return [
        _work_folder(settings.home),
        _warehouse(settings),
        _optional("Prefect server", settings.prefect_api_url, "prefect server start, then set PREFECT_API_URL"),
        _label_studio(settings),
        _optional("local models", _version_of("xllamacpp"), "pip install 'callwright[local]'"),
        _optional("Chromium, for browser tests", shutil.which("chromium") or "", "apt-get install chromium"),
    ]


def _work_folder(home: Path) -> SystemPart:
    free = shutil.disk_usage(home if home.exists() else Path()).free // 2**20
    return SystemPart("work folder", "ready", f"{home}, {free} MB free")


def _warehouse(settings: Settings) -> SystemPart:
    if not settings.warehouse.exists():
        return SystemPart("warehouse", "absent", "the first build makes it")
    try:
        count = open_warehouse(settings._replace(patience=1)).rows("select count(*) as n from accepted_samples")[0]["n"]
    except StoreError as error:
        return SystemPart("warehouse", "broken", str(error))
    return SystemPart("warehouse", "ready", f"{count} accepted samples")


def _label_studio(settings: Settings) -> SystemPart:
    from flows.review.servers import label_studio_address

    address = label_studio_address(settings)
    return _optional(
        "Label Studio", address, "callwright review serve, or set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY"
    )


def _optional(part: str, found: str, advice: str) -> SystemPart:
    return SystemPart(part, "ready", found) if found else SystemPart(part, "absent", advice)


def _version_of(module: str) -> str:
    return "installed" if find_spec(module) else ""
