"""The folder's own promise: its tests reach nobody."""

import socket
from collections.abc import Callable

import pytest
import pytest_socket


def open_socket() -> None:
    socket.socket(socket.AF_INET)


@pytest.mark.parametrize(
    "reach",
    [
        open_socket,
        lambda: socket.create_connection(("127.0.0.1", 9)),
        lambda: socket.getaddrinfo("localhost", 80),
    ],
    ids=["socket", "connection", "name"],
)
@pytest.mark.filterwarnings("ignore:A test tried to use")
def test_sockets_are_off(reach: Callable[[], object]) -> None:
    with pytest.raises(pytest_socket.SocketBlockedError):
        reach()


async def test_an_event_loop_runs_nevertheless() -> None:
    left, right = socket.socketpair()
    left.send(b"here")
    assert right.recv(4) == b"here"
    left.close()
    right.close()
