"""New Python environments on this machine, for the tests of what is really installed."""

import os
import subprocess
import sys
from pathlib import Path

import uv


def run_uv(*words: str) -> None:
    """Run uv, which links files instead of copying a gigabyte of them, where its cache is on the same disk."""
    surroundings = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    command = [uv.find_uv_bin(), *words, "--quiet"]
    surroundings |= {"UV_LINK_MODE": "hardlink"}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def new_environment(folder: Path, *installed: str) -> Path:
    """The programs of an environment with nothing but what is installed by these words of `uv pip install`."""
    run_uv("venv", "--python", sys.executable, str(folder))
    run_uv("pip", "install", "--python", str(folder), *installed)
    return folder / "bin"


def environment_beside_ours(folder: Path, *installed: str) -> Path:
    """The same, which sees all that this one has behind its own packages: nothing is unpacked and compiled a second time."""
    programs = new_environment(folder, "--no-deps", *installed)
    [packages] = folder.glob("lib/*/site-packages")
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "ours.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in ours))
    return programs
