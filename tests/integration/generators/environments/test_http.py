"""The environment that asks a live server: each way a server can fail ends as told, and none as
an exception or a hang.
"""

import asyncio
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.environments.endpoints import is_allowed, read_endpoints
from callwright.generators.environments.http import HttpEnvironment, HttpResponse, read_answer
from callwright.generators.environments.protocol import CallResponse
from callwright.generators.environments.stored import StoredEnvironment
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call
from tests.support.generators.environments.fixtures import Servers, as_json, http

Asking = Callable[..., HttpEnvironment]
ONE = Call(tool="read_customer", arguments={"id": "c1"})
FOREVER = 3600


async def test_a_server_that_is_down_is_told_of(servers: Servers, asking: Asking) -> None:
    url = await servers.saying(b"")
    await servers.stop()
    answer = await asking(url).answer(ONE)
    assert answer.passing
    assert "can't be asked" in answer.problem


async def test_a_server_that_never_answers_ends_with_the_time_allowed(
    servers: Servers, asking: Asking
) -> None:
    async def never(_: str, __: asyncio.StreamWriter) -> None:
        await asyncio.sleep(FOREVER)

    answer = await asking(await servers.start(never), seconds=0.2).answer(ONE)
    assert answer == CallResponse(problem=answer.problem, passing=True)
    assert "did not answer within 0.2 seconds" in answer.problem


async def test_a_server_that_drips_its_answer_ends_with_the_time_allowed(
    servers: Servers, asking: Asking
) -> None:
    async def drip(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n"
        )
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    answer = await asking(await servers.start(drip), seconds=0.3).answer(ONE)
    assert answer.passing
    assert "did not answer within 0.3 seconds" in answer.problem


@pytest.mark.parametrize(
    ("wire", "told"),
    [
        (
            http(b"<html><title>Sign in</title></html>", kind="text/html; charset=utf-8"),
            "an HTML page and no JSON: Sign in",
        ),
        (http(b"a,b\n1,2", kind="text/csv"), "'text/csv' and no JSON: a,b 1,2"),
        (http(b'{"id": "c1", "na'), "of 16 bytes is not JSON"),
        (http(b'{"id": "c1"}', Content_Length="90"), "can't be asked"),
        (http('{"name": "Müller"}'.encode("latin-1")), "is not UTF-8 (byte 11"),
        (http(b"[" * 90 + b"]" * 90), "nested more than 64 levels"),
        (http(b"[" * 5000 + b"]" * 5000), "is not JSON"),
        (
            http(gzip.compress(b"{}", mtime=0), Content_Encoding="gzip"),
            "packs its answers ('gzip')",
        ),
        (
            as_json({"detail": "out of order"}, "500 Internal Server Error"),
            'failed with status 500: {"detail": "out of order"}',
        ),
        (
            http(b"<title>Bad gateway</title>", "502 Bad Gateway", "text/html"),
            "failed with status 502: Bad gateway",
        ),
        (
            as_json({"detail": "who are you?"}, "401 Unauthorized"),
            "refused the call with status 401",
        ),
        (
            as_json({"detail": "slowly"}, "429 Too Many Requests"),
            "refused the call with status 429",
        ),
        (http(b"", "404 Not Found", "text/html"), "refused the call with status 404."),
        (
            http(b"", "302 Found", "", Location="http://127.0.0.1:1/elsewhere"),
            "redirects to http://127.0.0.1:1/elsewhere (302)",
        ),
        (b"what?\r\n\r\n", "can't be asked"),
        (b"", "can't be asked"),
    ],
)
async def test_an_answer_that_is_none_is_a_passing_problem(
    servers: Servers, asking: Asking, wire: bytes, told: str
) -> None:
    answer = await asking(await servers.saying(wire)).answer(ONE)
    assert answer.response is None
    assert answer.passing
    assert told in answer.problem


@pytest.mark.parametrize("status", ["404 Not Found", "422 Unprocessable Entity", "400 Bad Request"])
async def test_what_an_api_says_of_the_call_itself_is_its_answer(
    servers: Servers, asking: Asking, status: str
) -> None:
    answer = await asking(
        await servers.saying(as_json({"detail": "no such customer"}, status))
    ).answer(ONE)
    assert (
        answer.problem
        == f'The server refused the call with status {status[:3]}: {{"detail": "no such customer"}}'
    )
    assert not answer.passing


async def test_an_answer_of_two_megabytes_is_not_read_to_its_end(
    servers: Servers, asking: Asking
) -> None:
    sent = 0

    async def pour(_: str, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(
            b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"'
        )
        while True:
            writer.write(b"x" * 4096)
            sent += 4096
            await writer.drain()

    answer = await asking(await servers.start(pour)).answer(ONE)
    assert answer == CallResponse(
        problem="The server's answer is larger than the 1048576 bytes allowed.", passing=True
    )
    assert sent >= 2**20

    two = await servers.saying(as_json("x" * 2_000_000))
    assert "larger" in (await asking(two).answer(ONE)).problem
    assert (await asking(two, size=3_000_000).answer(ONE)).response == "x" * 2_000_000


async def test_a_redirect_is_not_followed(servers: Servers, asking: Asking) -> None:
    visited = []

    async def note(request: str, writer: asyncio.StreamWriter) -> None:
        visited.append(request)
        writer.write(as_json({}))

    elsewhere = await servers.start(note)
    url = await servers.saying(http(b"", "307 Temporary Redirect", "", Location=elsewhere))
    assert "redirects" in (await asking(url, secrets={"X-Key": "very-secret"}).answer(ONE)).problem
    assert visited == []


async def heard(
    servers: Servers, asking: Asking, call: Call, **more: object
) -> tuple[str, CallResponse]:
    requests: list[str] = []

    async def note(request: str, writer: asyncio.StreamWriter) -> None:
        requests.append(request)
        writer.write(as_json({"heard": request}))

    answer = await asking(await servers.start(note), **more).answer(call)
    return "".join(requests), answer


async def test_each_argument_goes_where_the_document_says(servers: Servers, asking: Asking) -> None:
    call = Call(tool="list_orders", arguments={"customer_id": "a&b=c ü", "tags": ["new", "red"]})
    request, _ = await heard(servers, asking, call)
    assert request.startswith(
        "GET /orders?customer_id=a%26b%3Dc+%C3%BC&tags=new&tags=red HTTP/1.1\r\n"
    )

    body: dict[str, object] = {"orders": {"id": {"any_": [3, 4]}}}
    request, _ = await heard(servers, asking, Call(tool="filter_orders", arguments=body))
    assert request.startswith("POST /orders/filter HTTP/1.1\r\n")
    assert json.loads(request.split("\r\n\r\n")[1]) == body

    request, _ = await heard(
        servers, asking, Call(tool="check_key", arguments={"X-Key": "k", "X-Trace": "t"})
    )
    assert "\r\nX-Trace: t\r\n" in request


async def test_a_path_argument_can_not_leave_its_segment(servers: Servers, asking: Asking) -> None:
    request, _ = await heard(
        servers, asking, Call(tool="read_customer", arguments={"id": "../orders?x=1#y"})
    )
    assert request.startswith("GET /customers/..%2Forders%3Fx%3D1%23y HTTP/1.1\r\n")
    for value in ("", ".", ".."):
        request, answer = await heard(
            servers, asking, Call(tool="read_customer", arguments={"id": value})
        )
        assert request == ""
        assert "can't be" in answer.problem


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            Call(tool="delete_customer", arguments={"id": "c1"}),
            "no tool 'delete_customer' that may be called",
        ),
        (Call(tool="create_order"), "no tool 'create_order'"),
        (Call(tool="read_customer"), "lacks 'id'"),
        (Call(tool="read_customer", arguments={"id": None}), "lacks 'id'"),
        (
            Call(tool="read_customer", arguments={"id": "c1", "colour": "red"}),
            "no parameter 'colour'; its parameters are id",
        ),
        (
            Call(tool="check_key", arguments={"X-Key": "k", "X-Trace": "a\r\nX-Admin: 1"}),
            "can't carry",
        ),
        (Call(tool="read_customer", arguments={"id": "x" * 20_000}), "at most 16000 are sent"),
    ],
)
async def test_a_call_that_makes_no_request_asks_nobody(
    servers: Servers, asking: Asking, call: Call, told: str
) -> None:
    request, answer = await heard(servers, asking, call)
    assert request == ""
    assert told in answer.problem


async def test_a_secret_is_sent_and_never_told(servers: Servers, asking: Asking) -> None:
    secrets = {"Authorization": "Bearer abcdef123456"}
    request, answer = await heard(servers, asking, ONE, secrets=secrets)
    assert "Authorization: Bearer abcdef123456" in request
    assert "[secret]" in json.dumps(answer.response)
    assert "abcdef123456" not in json.dumps(answer.response)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://127.0.0.1",
        "127.0.0.1:80",
        "http://user:word@127.0.0.1",
        "http://h?x=1",
        "http://[",
        "http://a..b",
        "http://h:99999",
    ],
)
def test_an_address_that_can_not_be_asked_is_refused(asking: Asking, url: str) -> None:
    with pytest.raises(ConfigurationError, match="address"):
        asking(url)


def test_only_what_changes_nothing_or_is_named_is_a_tool(shop: Path) -> None:
    names = {one.tool.name for one in read_endpoints(shop)}
    assert names == {
        "list_customers",
        "read_customer",
        "find_customer",
        "list_orders",
        "read_order",
        "read_shop",
        "check_key",
    }
    assert {one.tool.name for one in read_endpoints(shop, allow=["POST */filter"])} - names == {
        "filter_orders"
    }
    assert {one.tool.name for one in read_endpoints(shop, allow=["put"])} - names == {"pack_order"}


@given(st.sampled_from(["PUT", "PATCH", "DELETE", "POST"]), st.text(max_size=20))
def test_a_method_that_changes_things_is_asked_only_where_it_is_named(
    method: str, path: str
) -> None:
    assert not is_allowed(method, path, [])
    assert not is_allowed(
        method, path, [other for other in ("PUT", "PATCH", "DELETE", "POST") if other != method]
    )
    assert is_allowed(method, path, [method.lower()])


@given(
    st.integers(100, 599),
    st.sampled_from(
        ["", "application/json", "application/problem+json", "text/html", "text/plain; charset=x"]
    ),
    st.binary(max_size=60)
    | st.recursive(st.integers() | st.text(), st.lists).map(
        lambda value: json.dumps(value).encode()
    ),
)
def test_whatever_a_server_sends_is_either_a_value_or_a_problem(
    status: int, kind: str, body: bytes
) -> None:
    answer = read_answer(HttpResponse(status, kind, body))
    if answer.problem:
        assert answer.response is None
    else:
        assert 200 <= status < 300
        assert not answer.passing
        assert status == 204 or not body or json.dumps(answer.response)


async def test_a_server_that_answers_differently_the_second_time_drifts(
    servers: Servers, asking: Asking, tmp_path: Path
) -> None:
    url = await servers.saying(
        as_json({"id": "c1", "name": "Ada"}),
        as_json({"id": "c1", "name": "Grace"}),
        http(b"<p>", kind="text/html"),
    )
    environment = StoredEnvironment(asking(url), tmp_path / "responses.sqlite")
    call = Call(tool="read_customer", arguments={"id": "c1"})
    before = await environment.answer(call)
    assert await environment.answer(call) == before
    assert (await environment.refresh(call)).response == {"id": "c1", "name": "Grace"}
    assert [(one.earlier.response, one.later.response) for one in environment.drifted()] == [
        ({"id": "c1", "name": "Ada"}, {"id": "c1", "name": "Grace"})
    ]
    assert "HTML" in (await environment.refresh(call)).problem
    assert (await environment.answer(call)).response == {"id": "c1", "name": "Grace"}
    environment.close()
