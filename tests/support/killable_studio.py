"""A Label Studio of the tests that kill it."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from callwright.annotation.studio import server
from callwright.annotation.studio.server import serving_process
from tests.support.studio_template import copy_studio

# Label Studio sends webhooks to no address of this machine unless this is off.
_WEBHOOKS_TO_LOOPBACK = "SSRF_PROTECTION_ENABLED"


class KillableStudio:
    """A server below `home` with the accounts, the environment and the data of the one below
    `model`.
    """

    def __init__(self, home: Path, model: Path) -> None:
        self.home = home
        self.places = copy_studio(model, home)
        self.info = self.start()

    def start(self) -> server.ServerInfo:
        """Start it, or find it running."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(server, "_INHERITED", (*server._INHERITED, _WEBHOOKS_TO_LOOPBACK))
            self.info = server.start(
                self.home, os.environ | {_WEBHOOKS_TO_LOOPBACK: "false"}, timeout=300
            )
        return self.info

    def kill(self) -> None:
        """End the server's process at once, as a power cut would."""
        found = serving_process(self.places)
        assert found is not None
        for child in _children(found[0]):
            os.kill(child, signal.SIGKILL)
        end = time.monotonic() + 20
        while serving_process(self.places) is not None:  # the supervisor sees it and ends too
            assert time.monotonic() < end
            time.sleep(0.05)

    def stop(self) -> None:
        """End it in order."""
        server.stop(self.home)


def _children(supervisor: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{supervisor}/task").iterdir():
        with suppress(OSError):
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found
