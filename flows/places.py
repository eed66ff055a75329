"""Where things are kept, by the settings."""

from flows.settings import Settings, read_settings
from warehouse.store import Warehouse


def open_warehouse(settings: Settings | None = None) -> Warehouse:
    """The warehouse of the work folder that the settings name, this process's own unless given."""
    settings = settings or read_settings()
    return Warehouse(settings.warehouse, patience=settings.patience)
