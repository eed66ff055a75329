"""New Python environments on this machine, for the tests of what is really installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import uv

TOP = Path(__file__).parents[2]
_NOT_INSTALLED = {".ci", "bench", "docs", "tests"}
_BUILT_WITH = ("pyproject.toml", "setup.py", "README.md", "LICENSE")


def product_files() -> set[str]:
    """All files under version control that belong to the product, by their paths in the
    repository.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout
    paths = [PurePosixPath(name) for name in listed.split("\0") if name and (TOP / name).exists()]
    return {
        str(path) for path in paths if len(path.parts) > 1 and path.parts[0] not in _NOT_INSTALLED
    }


def build_wheel(folder: Path) -> Path:
    """The wheel, built in the folder of a copy: what a build leaves beside its sources would go
    into the next one.
    """
    for name in (*product_files(), *_BUILT_WITH):
        copy = folder / "sources" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, copy)
    run_uv("build", "--wheel", "--out-dir", str(folder / "built"), str(folder / "sources"))
    [built] = (folder / "built").glob("*.whl")
    return built


def run_uv(*words: str) -> None:
    """Run uv, which links files instead of copying a gigabyte of them, where its cache is on the
    same disk.
    """
    surroundings = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    command = [uv.find_uv_bin(), *words, "--quiet"]
    surroundings |= {"UV_LINK_MODE": "hardlink"}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def new_environment(folder: Path, *installed: str, python: str = sys.executable) -> Path:
    """The programs of an environment with nothing but what is installed by these words of `uv
    pip install`.
    """
    run_uv("venv", "--python", python, str(folder))
    run_uv("pip", "install", "--python", str(folder), *installed)
    return folder / "bin"


def find_python(version: str) -> str:
    """The path of an interpreter of this version that the machine has, or "" if it has none."""
    for folder in sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*")):
        return str(folder / "bin" / "python")
    listed = [uv.find_uv_bin(), "python", "find", "--no-python-downloads", "--quiet", version]
    found = subprocess.run(listed, capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else ""


def environment_beside_ours(folder: Path, *installed: str) -> Path:
    """The same, which sees all that this one has behind its own packages: nothing is unpacked
    and compiled a second time.
    """
    programs = new_environment(folder, "--no-deps", "--compile-bytecode", *installed)
    [packages] = folder.glob("lib/*/site-packages")
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "ours.pth").write_text(
        "".join(f"import site; site.addsitedir({path!r})\n" for path in ours)
    )
    return programs
