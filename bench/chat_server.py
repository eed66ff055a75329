"""A cheap chat server for load tests that prints its address.

Usage: `python -m bench.chat_server [--port N] [--delay 0.05]`. It answers POST
…/chat/completions after the delay, every prompt alike, and fails on request: every n-th reply is
refused with 429, every n-th connection is cut, every n-th reply ends in its middle. GET …/stats
returns the number of requests.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping

ANSWER = '{"answer": "ok", "score": 5}'
_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


class Faults:
    """Which faults the server makes, and how often; 0 means never."""

    def __init__(self, refuse: int = 0, cut: int = 0, halve: int = 0) -> None:
        self.refuse, self.cut, self.halve = refuse, cut, halve
        self.counts = {"calls": 0, "refused": 0, "cut": 0, "halved": 0}

    def of_next(self) -> str:
        """Return the fault of the next request."""
        self.counts["calls"] += 1
        number = self.counts["calls"]
        for name, every in (("halved", self.halve), ("cut", self.cut), ("refused", self.refuse)):
            if every and number % every == 0:
                self.counts[name] += 1
                return name
        return "well"


class Connection(asyncio.Protocol):
    """A connection that parses just as much HTTP as our own clients speak."""

    def __init__(self, delay: float, faults: Faults) -> None:
        self._delay = delay
        self._faults = faults
        self._unread = b""
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for replies."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - TCP gives no other
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop answering."""
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Handle each request that is complete."""
        self._unread += data
        while (end := self._unread.find(_END)) >= 0:
            head = self._unread[:end].lower()
            at = head.find(_LENGTH)
            length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            whole = end + len(_END) + length
            if len(self._unread) < whole:
                return
            body = self._unread[end + len(_END) : whole]
            self._unread = self._unread[whole:]
            if head.startswith(b"post"):
                self._loop.call_later(self._delay, self._answer, self._faults.of_next(), body)
            else:
                self._write(http(200, self.rendered(head)))

    def rendered(self, _head: bytes) -> bytes:
        """Return the answer to a GET request."""
        return json.dumps(self._faults.counts).encode()

    def well(self, _body: bytes) -> bytes:
        """Return the whole reply to a request without a fault."""
        return _WELL

    def _answer(self, fault: str, body: bytes) -> None:
        if fault == "cut" and self._transport is not None:
            self._transport.abort()
        elif fault == "halved":
            self._write(http(200, COMPLETION[: len(COMPLETION) // 2]))
        elif fault == "refused":
            self._write(_REFUSED)
        else:
            self._write(self.well(body))

    def _write(self, reply: bytes) -> None:
        if self._transport is not None:
            self._transport.write(reply)


def http(status: int, body: bytes) -> bytes:
    """Return a reply as it goes over the wire."""
    head = (
        f"HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length:"
        f" {len(body)}\r\n\r\n"
    )
    return head.encode() + body


COMPLETION = json.dumps(
    {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "bench",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": ANSWER},
            }
        ],
        "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
    }
).encode()
_WELL = http(200, COMPLETION)
_REFUSED = http(
    429,
    b'{"error": {"message": "Rate limit reached", "type": "requests", "code":'
    b' "rate_limit_exceeded"}}',
)


async def serve(
    port: int, delay: float, faults: Mapping[str, int], connection: type[Connection] = Connection
) -> None:
    """Serve until the process is ended."""
    shared = Faults(**faults)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: connection(delay, shared), "127.0.0.1", port, backlog=2048
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    async with server:
        await server.serve_forever()


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds")
    for fault in ("refuse", "cut", "halve"):
        parser.add_argument(f"--{fault}", type=int, default=0, help="every so many replies")
    chosen = vars(parser.parse_args())
    asyncio.run(serve(chosen.pop("port"), chosen.pop("delay"), chosen))


if __name__ == "__main__":
    main()
