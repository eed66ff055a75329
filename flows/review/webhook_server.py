"""A small server that hears Label Studio's webhooks: who knows the secret is answered at once, and heard."""

import hmac
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from annotation.studio.projects import SECRET_HEADER
from warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from aiohttp import web

_log = logging.getLogger(__name__)
LARGEST_BODY = 1 << 20  # bytes


def knows_secret(given: str, secret: str) -> bool:
    """Whether a header holds the secret, in a time that tells nothing of where they differ."""
    return bool(secret) and hmac.compare_digest(given.encode(errors="replace"), secret.encode())


@asynccontextmanager
async def hear_webhooks(host: str, port: int, secret: str, heard: Callable[[], None]) -> AsyncIterator[str]:
    """Serve on `host` and `port` (0: a free one) and call `heard` for each webhook; the address.

    What a body says is not looked at: whoever can post learns nothing and changes nothing, but that people's answers are
    pulled sooner.
    """
    from aiohttp import web

    async def take(request: "web.Request") -> "web.Response":
        if not knows_secret(request.headers.get(SECRET_HEADER, ""), secret):
            _log.warning("A webhook without the secret came from %s; it is refused.", request.remote)
            raise web.HTTPUnauthorized(text=f"The header {SECRET_HEADER} must hold the secret.\n")
        if (request.content_length or 0) > LARGEST_BODY:
            raise web.HTTPRequestEntityTooLarge(LARGEST_BODY, request.content_length or 0)
        await request.read()  # raises the same for a body that did not tell its length
        heard()
        return web.Response(status=202, text="Heard.\n")

    application = web.Application(client_max_size=LARGEST_BODY)
    application.router.add_post("/", take)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise ConfigurationError(
                f"Nobody can listen on {host}:{port} ({error.strerror}). Choose another --port, or 0 for a free one."
            ) from error
        _, taken = runner.addresses[0][:2]
        yield f"http://{f'[{host}]' if ':' in host else host}:{taken}/"
    finally:
        await runner.cleanup()
