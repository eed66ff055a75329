"""Where this process keeps things, by its settings."""

from flows.settings import read_settings
from warehouse.store import Warehouse


def open_warehouse() -> Warehouse:
    """The warehouse of this process's work folder."""
    settings = read_settings()
    return Warehouse(settings.warehouse, patience=settings.patience)
