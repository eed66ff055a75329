"""What the tests of flows share."""

from collections.abc import Iterator

import pytest

from tests.flows.model_server import ModelServer, serve_model


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A fresh model across a wire."""
    with serve_model() as server:
        yield server
