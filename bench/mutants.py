"""Tests that must notice changes of meaning: `python -m bench.mutants [--only TEXT] [--jobs N]`.

Each entry of `mutants.yaml` names a text that stands once in the product's sources, what is written
in its place, and the tests of which one must fail then. Everything happens in copies of the
repository; on the unchanged one the tests must pass.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "annotation",
    "flows",
    "generators",
    "language",
    "llm",
    "recipes",
    "validators",
    "warehouse",
)
_SHOWN = 12  # lines of what pytest said


class Mutant(NamedTuple):
    """A change of meaning, and the files or ids of the tests that notice it."""

    name: str
    find: str
    replace: str
    tests: list[str]


class Verdict(NamedTuple):
    """What became of a mutant; `problem` is why its entry proves nothing, "" if it does."""

    mutant: Mutant
    place: str
    is_noticed: bool = False
    seconds: float = 0.0
    problem: str = ""


def main() -> int:
    """Print what became of each mutant; 1 where one survived or could not be tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="those whose name has this text")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    listed = yaml.safe_load((ROOT / "bench/mutants.yaml").read_text())
    mutants = [Mutant(**one) for one in listed if chosen.only in one["name"]]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(chosen.jobs) as threads:
        copies: Queue[Path] = Queue()
        for number in range(chosen.jobs):
            copies.put(copy_repository(Path(folder) / str(number) / "callwright"))
        tests = sorted({name for one in mutants for name in one.tests})
        parts = [tests[at :: chosen.jobs] for at in range(chosen.jobs)]
        for code, said in threads.map(lambda names: _run_in(copies, names), filter(None, parts)):
            if code:
                print(said, "The tests fail without a mutant.", sep="\n")
                return 1
        verdicts = []
        for verdict in threads.map(lambda one: _try_in(copies, one), mutants):
            print(_line(verdict), flush=True)
            verdicts.append(verdict)
    lost = [one for one in verdicts if not one.is_noticed]
    print(f"{len(verdicts) - len(lost)} of {len(verdicts)} mutants are noticed.")
    return int(bool(lost))


def _line(verdict: Verdict) -> str:
    told = verdict.problem or ("noticed" if verdict.is_noticed else "SURVIVED")
    return f"{told:9} {verdict.seconds:5.1f} s  {verdict.mutant.name}  ({verdict.place})"


def copy_repository(target: Path) -> Path:
    """Copy the sources and the tests; `callwright` of the copy holds all packages as folders."""
    package, ignored = target / "callwright", shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "callwright", package, ignore=ignored)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, package / name, ignore=ignored)
        (target / name).symlink_to(package / name)
    for name in ("tests", "bench", "docs"):
        shutil.copytree(ROOT / name, target / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, target / name)
    if (ROOT.parent / "shared").is_dir():
        (target.parent / "shared").symlink_to(ROOT.parent / "shared")
    # Checked by content: a mutant may have the size and the second of what it replaces.
    compiling = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(package)]
    subprocess.run([sys.executable, *compiling], check=True)
    return target


def places_of(package: Path, text: str) -> list[Path]:
    """Return the files of a package in which a text stands, once for each time."""
    files = sorted(one for one in package.rglob("*") if one.suffix in (".py", ".sql", ".j2"))
    return [file for file in files for _ in range(file.read_text().count(text))]


def run_tests(copy: Path, tests: list[str]) -> tuple[int, str]:
    """Run tests in a copy until one fails; pytest's exit code and its last lines."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0"]
    done = subprocess.run([*command, *tests], cwd=copy, capture_output=True, text=True, check=False)
    return done.returncode, "\n".join((done.stdout + done.stderr).splitlines()[-_SHOWN:])


def _run_in(copies: "Queue[Path]", tests: list[str]) -> tuple[int, str]:
    copy = copies.get()
    try:
        return run_tests(copy, tests)
    finally:
        copies.put(copy)


def _try_in(copies: "Queue[Path]", mutant: Mutant) -> Verdict:
    copy, began = copies.get(), time.perf_counter()
    try:
        files = places_of(copy / "callwright", mutant.find)
        if len(files) != 1:
            return Verdict(mutant, f"in {len(files)} places", problem="NOT ONCE")
        text, place = files[0].read_text(), str(files[0].relative_to(copy / "callwright"))
        files[0].write_text(text.replace(mutant.find, mutant.replace))
        code, said = run_tests(copy, mutant.tests)
        files[0].write_text(text)
        seconds = time.perf_counter() - began
        problem = "" if code in (0, 1) else f"BROKEN ({said})"
        return Verdict(mutant, place, is_noticed=code == 1, seconds=seconds, problem=problem)
    finally:
        copies.put(copy)


if __name__ == "__main__":
    sys.exit(main())
