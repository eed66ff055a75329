"""The way to a Prefect server: whether it answers, and what goes wrong on the way as one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.settings import Settings
from warehouse.errors import CallwrightError, ConfigurationError

_PATIENCE = 10.0
_NOT_FOUND = 404


def require_server(settings: Settings) -> str:
    """The address of the Prefect server that the environment names, once it has answered.

    Raises ConfigurationError where none is named or the address is none, CallwrightError where nobody answers there.
    """
    import httpx

    api = settings.prefect_api_url
    if not api:
        raise ConfigurationError(
            "No Prefect server is named. Start one with `prefect server start` and set PREFECT_API_URL to its address."
        )
    try:
        status = httpx.get(f"{api.rstrip('/')}/health", timeout=_PATIENCE).status_code
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise ConfigurationError(
            f"PREFECT_API_URL is {api!r}, which is no address. It looks like 'http://127.0.0.1:4200/api'."
        ) from error
    except httpx.TransportError as error:
        raise CallwrightError(
            f"No Prefect server answers at {api!r}, where PREFECT_API_URL points: {error}. Start it with `prefect server "
            "start`, or unset PREFECT_API_URL to build without Prefect."
        ) from error
    if status == _NOT_FOUND:
        raise ConfigurationError(
            f"PREFECT_API_URL is {api!r}, where something answers that is no Prefect API. Its address ends in '/api'."
        )
    return api


@contextmanager
def explained_errors(api: str) -> Iterator[None]:
    """Turn what Prefect's client raises into a CallwrightError; everything else passes."""
    import httpx
    from prefect.exceptions import PrefectException

    try:
        yield
    except httpx.TransportError as error:
        raise CallwrightError(
            f"The Prefect server at {api!r} stopped answering: {error!r}. What is done is kept; start the server again, "
            "and the same command goes on from there."
        ) from error
    except (httpx.HTTPStatusError, PrefectException) as error:
        raise CallwrightError(
            f"Prefect at {api!r} refused: {error}. What is done is kept; the same command goes on from there."
        ) from error
