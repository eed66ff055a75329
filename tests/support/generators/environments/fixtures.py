"""Servers that behave badly, on loopback, and an OpenAPI document of a small shop."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.environments.endpoints import read_endpoints
from callwright.generators.environments.http import HttpEnvironment, HttpLimits

Writing = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


class Servers:
    """Starts servers whose every answer is what a function writes, byte for byte."""

    def __init__(self) -> None:
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, write: Writing) -> str:
        """The address of a server that reads a request, and then does as `write` says with its
        text.
        """

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (
                        int(line[15:])
                        for line in head.lower().split(b"\r\n")
                        if line[:15] == b"content-length:"
                    ),
                    0,
                )
                body = await reader.readexactly(length)
                await write((head + body).decode("latin-1"), writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        self._servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def saying(self, *answers: bytes) -> str:
        """The address of a server that gives these answers one after another, the last one ever
        after.
        """
        left = list(answers)

        async def write(_: str, writer: asyncio.StreamWriter) -> None:
            writer.write(left.pop(0) if len(left) > 1 else left[0])
            await writer.drain()

        return await self.start(write)

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture
async def servers() -> AsyncIterator[Servers]:
    started = Servers()
    yield started
    await started.stop()


def http(
    body: bytes, status: str = "200 OK", kind: str = "application/json", **headers: str
) -> bytes:
    """A whole response on the wire."""
    told = {
        "Content-Type": kind,
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    lines = "".join(
        f"{name.replace('_', '-')}: {value}\r\n" for name, value in told.items() if value
    )
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def as_json(value: Any, status: str = "200 OK") -> bytes:
    return http(json.dumps(value).encode(), status)


def _get(returns: Any, *parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": returns}}
    return {
        "tags": ["shop"],
        "parameters": list(parameters),
        "responses": {"200": {"content": content}},
        **more,
    }


def _at(name: str, part: str, kind: str = "string", *, required: bool = True) -> dict[str, Any]:
    return {
        "name": name,
        "in": part,
        "required": required,
        "schema": {"type": kind},
        "description": f"The {name}.",
    }


_ORDER = {
    "title": "Order",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "customer_id": {"type": "string"},
        "total": {"type": "number"},
        "shop": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
_CUSTOMER = {
    "title": "CustomerResponse",
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "order_id": {"type": "integer"},
        "shop_name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
}
_FILTER = {
    "type": "object",
    "properties": {
        "orders": {
            "type": "object",
            "properties": {
                "id": {
                    "type": "object",
                    "properties": {"any_": {"type": "array", "items": {"type": "integer"}}},
                }
            },
        },
        "limit": {"type": "integer", "default": 10},
    },
}
SHOP = {
    "openapi": "3.1.0",
    "paths": {
        "/customers": {
            "get": _get(
                {"type": "object", "properties": {"data": {"type": "array", "items": _CUSTOMER}}},
                operationId="list_customers",
            )
        },
        "/customers/{id}": {
            "get": _get(_CUSTOMER, _at("id", "path"), operationId="read_customer"),
            "delete": _get({}, _at("id", "path"), operationId="delete_customer"),
        },
        "/customers/name/{name}": {
            "get": _get(_CUSTOMER, _at("name", "path"), operationId="find_customer")
        },
        "/orders": {
            "get": _get(
                {"type": "array", "items": _ORDER},
                _at("customer_id", "query"),
                _at("tags", "query", "array", required=False),
                operationId="list_orders",
            ),
            "post": _get(_ORDER, operationId="create_order"),
        },
        "/orders/{id}": {
            "get": _get(_ORDER, _at("id", "path", "integer"), operationId="read_order")
        },
        "/orders/{id}/pack": {
            "put": _get(_ORDER, _at("id", "path", "integer"), operationId="pack_order")
        },
        "/orders/filter": {
            "post": _get(
                {"type": "array", "items": _ORDER},
                operationId="filter_orders",
                requestBody={
                    "required": True,
                    "content": {"application/json": {"schema": _FILTER}},
                },
            )
        },
        "/shops/{name}": {
            "get": _get(
                {"type": "object", "properties": {"city": {"type": "string"}}},
                _at("name", "path"),
                operationId="read_shop",
            )
        },
        "/keys": {
            "get": _get(
                {"type": "boolean"},
                _at("X-Key", "header"),
                _at("X-Trace", "header"),
                operationId="check_key",
            )
        },
    },
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.json"
    path.write_text(json.dumps(SHOP), encoding="utf-8")
    return path


@pytest.fixture
def asking(shop: Path) -> Callable[..., HttpEnvironment]:
    """The shop's environment at an address, patient for long enough that only a hang ends by it."""

    def environment(
        url: str, *, seconds: float = 30, size: int = 2**20, **more: Any
    ) -> HttpEnvironment:
        endpoints = read_endpoints(shop, allow=["POST */filter"])
        return HttpEnvironment("shop", endpoints, url, limits=HttpLimits(seconds, size), **more)

    return environment
