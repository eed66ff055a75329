"""A door in front of a real server that misbehaves as told: it forwards, and meets chosen
requests with faults.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import NamedTuple

from aiohttp import ClientError, ClientSession, ClientTimeout, web

_OWN_TO_EACH_SIDE = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}


class Fault(NamedTuple):
    """What happens to one request.

    `delivered`: the server gets it, `wait` seconds late. Then `status` is answered in the place of
    what the server said, or `share` of its answer as if that were all, or the connection is `cut`
    after that share. `meanwhile` is called as soon as the server has the request.
    """

    delivered: bool = True
    wait: float = 0.0
    status: int = 0
    headers: Mapping[str, str] = MappingProxyType({})
    share: float = 1.0
    cut: bool = False
    meanwhile: Callable[[], None] | None = None


class ProxyReply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class FaultProxy:
    """Forwards to `target`; `faults` are met in their order, each by one request that it is
    meant for.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.url = ""
        self.faults: list[tuple[re.Pattern[str], Fault]] = []
        self.asked: list[str] = []
        self.carried_out: list[str] = []
        self.waiting = 0

    def expect(self, pattern: str, *faults: Fault) -> None:
        """The next requests whose "METHOD /path" `pattern` finds meet these faults, one each."""
        self.faults += [(re.compile(pattern), fault) for fault in faults]

    def heal(self) -> None:
        """Forward everything from now on."""
        self.faults.clear()
        self.asked.clear()
        self.carried_out.clear()

    def count(self, pattern: str) -> int:
        """How many requests of this kind came since the last healing."""
        return sum(re.search(pattern, line) is not None for line in self.asked)

    def _fault_for(self, line: str) -> Fault:
        for place, (pattern, fault) in enumerate(self.faults):
            if pattern.search(line):
                del self.faults[place]
                return fault
        return Fault()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        line = f"{request.method} {request.path}"
        self.asked.append(line)
        fault = self._fault_for(line)
        body = await request.read()
        told = None
        if fault.delivered:
            self.waiting += 1
            try:
                await asyncio.sleep(fault.wait)
                told = await self._deliver(request, body, fault)
            finally:
                self.waiting -= 1
            if told is not None:
                self.carried_out.append(line)
        if fault.status:
            return web.json_response(
                {"detail": "told to"}, status=fault.status, headers=dict(fault.headers)
            )
        if told is None:
            return _cut(request)
        if fault.cut:
            return await _break_off(request, told, fault.share)
        return web.Response(
            status=told.status,
            headers=told.headers,
            body=told.body[: int(len(told.body) * fault.share)],
        )

    async def _deliver(self, request: web.Request, body: bytes, fault: Fault) -> ProxyReply | None:
        """What the server says, None where it said nothing."""
        headers = _passed_on(request.headers)
        aside: asyncio.Future[None] | None = None
        async with ClientSession(
            auto_decompress=False, timeout=ClientTimeout(total=120)
        ) as session:
            try:
                asking = asyncio.ensure_future(
                    session.request(
                        request.method,
                        self.target + request.raw_path,
                        data=body,
                        headers=headers,
                        allow_redirects=False,
                    )
                )
                if fault.meanwhile is not None:
                    aside = asyncio.get_running_loop().run_in_executor(None, fault.meanwhile)
                response = await asking
                return ProxyReply(
                    response.status, _passed_on(response.headers), await response.read()
                )
            except ClientError:
                return None
            finally:
                if aside is not None:
                    await aside


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OWN_TO_EACH_SIDE}


def _cut(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _break_off(request: web.Request, told: ProxyReply, share: float) -> web.StreamResponse:
    response = web.StreamResponse(status=told.status, headers=told.headers)
    response.content_length = len(told.body)
    await response.prepare(request)
    await response.write(told.body[: int(len(told.body) * share)])
    return _cut(request)


@contextmanager
def fault_proxy(target: str) -> Iterator[FaultProxy]:
    """A proxy to `target` on a free port of loopback, in a thread of its own."""
    proxy = FaultProxy(target)
    loop, ready, ended = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        app = web.Application(client_max_size=1 << 28)
        app.router.add_route("*", "/{path:.*}", proxy.answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        proxy.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        ready.set()
        await ended.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait(10)
    yield proxy
    loop.call_soon_threadsafe(ended.set)
    thread.join(20)
    loop.close()
