"""Which Label Studio people work in: the one that the environment names, else the work folder's own."""

import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from callwright.annotation.studio import server
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import LOOPBACK, ServerInfo, StudioAddress
from callwright.flows.settings import Settings, environment
from callwright.warehouse.errors import ConfigurationError

LOCAL = "local"  # how reviews remember the work folder's own server
EDIT_PAGE = "edit-page"  # the file in the work folder that tells where samples are edited by form


def serve_label_studio(settings: Settings, say: Callable[[str], None], address: StudioAddress = LOOPBACK) -> ServerInfo:
    """Start the local Label Studio, or find it running.

    Raises ConfigurationError where the address under which people reach it is none.
    """
    url = urlsplit(address.public_url)
    if address.public_url and not (url.scheme in {"http", "https"} and url.netloc and not url.query):
        raise ConfigurationError(f"--url {address.public_url!r} is no address such as https://review.example.com.")
    return server.start(settings.home, environment(), progress=say, address=address)


def stop_label_studio(settings: Settings) -> bool:
    """End the local Label Studio; whether there was one."""
    return server.stop(settings.home)


def label_studio_address(settings: Settings) -> str:
    """The address of the Label Studio in use, "" where there is none."""
    if settings.label_studio_url:
        return settings.label_studio_url
    running = server.running(settings.home)
    return running.url if running else ""


def find_label_studio(settings: Settings) -> LabelStudio | None:
    """The Label Studio that the environment names, else the local one, else None."""
    if settings.label_studio_url:
        if not settings.label_studio_token:
            raise ConfigurationError(
                f"LABEL_STUDIO_URL is {settings.label_studio_url!r}, but LABEL_STUDIO_API_KEY is not set. "
                "Label Studio shows your token under Account & Settings."
            )
        return LabelStudio(settings.label_studio_url, settings.label_studio_token)
    running = server.running(settings.home)
    return local_label_studio(running) if running else None


def local_label_studio(running: ServerInfo) -> LabelStudio:
    """The client of this work folder's own server, which stays the same whatever its port."""
    return LabelStudio(running.url, running.token, name=LOCAL)


def require_label_studio(settings: Settings) -> LabelStudio:
    """As `find_label_studio`; ConfigurationError where there is none."""
    studio = find_label_studio(settings)
    if studio is None:
        raise ConfigurationError(
            "No Label Studio is named or running. Start one with `callwright review serve`, or set LABEL_STUDIO_URL and "
            "LABEL_STUDIO_API_KEY."
        )
    return studio


def edit_page_address(settings: Settings) -> str:
    """Where samples are edited by form, "" where nobody serves that page; it is asked, for what served it may have been killed."""
    place = settings.home / EDIT_PAGE
    if not place.exists():
        return ""
    address, served = place.read_text(encoding="utf-8").split()
    parts = urlsplit(served)
    try:
        socket.create_connection((str(parts.hostname), parts.port or 0), timeout=2).close()
    except OSError:
        return ""
    return address
