"""No test of this folder opens a socket, whatever it is started with; the pairs of an event loop
excepted.
"""

import pytest
import pytest_socket


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Sockets are off before the first fixture is made, and no marker turns them on."""
    assert item.get_closest_marker("enable_socket") is None, (
        "A test that needs sockets belongs in tests/integration."
    )
    pytest_socket.disable_socket(allow_unix_socket=True)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    pytest_socket.enable_socket()
