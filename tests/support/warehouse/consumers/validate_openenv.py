"""Run where openenv is installed: its validator judges an export as far as it goes without Docker.

Argument: the folder. The server runs in a subprocess. It prints the status of each check, by name.
"""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

from openenv.validation import Level, run_validation
from openenv.validation.types import ProviderCapability


class Server:
    """A server of the folder, on a port of its own."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}"
        words = ["-B", "-m", "uvicorn", "server:app", "--port", str(port), "--log-level", "error"]
        self._process = subprocess.Popen([sys.executable, *words], cwd=folder)
        for _ in range(600):
            try:
                urlopen(f"{self.base_url}/health", timeout=1).close()  # noqa: S310 - our own
            except OSError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise TimeoutError(self.base_url)

    def inspect(self):
        return {}

    def logs(self, _most=0):
        return ""

    def stop(self):
        self._process.terminate()
        self._process.wait(10)


class Subprocesses:
    """What the validator starts servers with, in place of Docker."""

    name = "subprocess"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public", "no-network"})

    def build(self, folder, _execution):
        self.folder = folder
        return f"sha256:{'0' * 64}"

    def start(self, _spec):
        return Server(self.folder)


report = run_validation(Path(sys.argv[1]), max_level=Level.RUNTIME, provider=Subprocesses())
print(json.dumps({one.check_id: one.status.value for one in report.results}))
