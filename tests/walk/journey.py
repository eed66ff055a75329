"""The walk itself: a home that nobody has used, the installed wheel, default settings, and
nobody else's network.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.studio_template import copy_studio, studio_template
from tests.walk.pages import PAGES, TOP, blocks_of, commands_of, without_comment
from tests.walk.terminal import Ran, Signal, When, run

# What a checkout has beside the sources, and the commands of the pages name.
_BESIDE = ("recipes", "docs/first-dataset")
_VIEW = "callwright view"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+\S*")
ANN = "ann@example.com"
HEAVY = (
    'callwright query "select count(*) from range(4000000) a, range(4000000) b where a.range % 7 ='
    ' b.range % 11"'
)

# A network with nobody in it but this machine: ports that the pages name are free there, and nobody
# else can be asked.
_ALONE = """
import fcntl, socket, struct, sys
with socket.socket() as made:
    fcntl.ioctl(made, 0x8914, struct.pack("16sh", b"lo", 0x41))  # SIOCSIFFLAGS: loopback is up and runs
print("ready", flush=True)
sys.stdin.read()
"""


class Step(NamedTuple):
    """A command of a page, and how it went; where it was not run, why."""

    page: str
    command: str
    ran: Ran | None
    reason: str = ""
    signal: str = ""


class Traveller(NamedTuple):
    """Somebody at a terminal with the installed command and a home of their own."""

    folder: Path
    environment: dict[str, str]
    inside: tuple[str, ...]

    def run(self, command: str, when: When | None = None) -> Ran:
        """Type a command; `NAME=value` lines are kept for those that follow."""
        if re.match(r"[A-Z]+=", command):
            name = command.partition("=")[0]
            keep = self.folder / ".variable"
            ran = self._shell(f'{command}\nprintf %s "${name}" > {keep}', when)
            self.environment[name] = keep.read_text(encoding="utf-8")
            keep.unlink()
            return ran
        return self._shell(command, when)

    def _shell(self, command: str, when: When | None) -> Ran:
        return run([*self.inside, "bash", "-c", command], self.folder, self.environment, when)

    def quietly(self, *words: str) -> str:
        """What a command prints, without a terminal."""
        done = subprocess.run(
            [*self.inside, *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def answers_at(self, said: str) -> bool:
        """Whether a page is served at the address that was told."""
        found = _ADDRESS.search(said)
        if found is None:
            return False
        asked = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=20).status)"
        return self.quietly(sys.executable, "-c", asked, found[0]).strip() == "200"


@contextmanager
def nobody_else() -> Iterator[tuple[str, ...]]:
    """The words before a command that let it see no network but this machine's own; none where
    that can't be had.
    """
    process = subprocess.Popen(
        ["unshare", "--user", "--map-root-user", "--net", sys.executable, "-c", _ALONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        is_alone = process.stdout.readline() == "ready\n"
        enter = (
            "nsenter",
            "--target",
            str(process.pid),
            "--user",
            "--net",
            "--preserve-credentials",
            "--",
        )
        yield enter if is_alone else ()
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


@contextmanager
def traveller(programs: Path, folder: Path, inside: tuple[str, ...]) -> Iterator[Traveller]:
    """Somebody with an empty home; what is needed of a checkout lies beside it.

    Their Label Studio ends with the walk.
    """
    for name in _BESIDE:
        shutil.copytree(TOP / name, folder / name)
    (folder / "home").mkdir()
    environment = {
        "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder / "home"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    someone = Traveller(folder, environment, inside)
    copy_studio(studio_template(), folder / ".callwright")
    try:
        yield someone
    finally:
        someone.quietly("callwright", "review", "stop")


def walk(someone: Traveller) -> Iterator[Step]:
    """Each command of the pages, in order, as it is written."""
    for page in PAGES:
        for block in blocks_of(page):
            if block.title and not block.reason:
                (someone.folder / block.title).write_text(block.text, encoding="utf-8")
            if block.language != "sh":
                continue
            for command in commands_of(block):
                yield (
                    Step(page, command, None, block.reason)
                    if block.reason
                    else _step(someone, page, command)
                )


def _step(someone: Traveller, page: str, command: str) -> Step:
    if (page, command) == ("docs/reviewing.md", "callwright review stop"):
        _sign_up_ann(someone)  # while browsers may come without TLS
    if _serves(command):
        return Step(
            page, command, someone.run(command, _when_served(someone, "ctrl-C")), signal="ctrl-C"
        )
    return Step(page, command, someone.run(command))


def _serves(command: str) -> bool:
    return command.startswith(_VIEW) and "--out" not in command


def _when_served(someone: Traveller, by: Signal) -> When:
    return When(by, is_due=someone.answers_at)


def _sign_up_ann(someone: Traveller) -> None:
    """Somebody follows the invitation in a browser."""
    words = [
        sys.executable,
        "-m",
        "tests.walk.invitation",
        str(someone.folder / ".callwright"),
        ANN,
    ]
    subprocess.run([*someone.inside, *words], cwd=TOP, env=dict(os.environ), check=True)


class Interrupted(NamedTuple):
    """A long step that was ended by each signal and then run to its end."""

    ended: tuple[Step, ...]
    whole: Step


# The long steps on the way of a newcomer, each with the processor time after which it is ended the
# first and the second time.
LONG: tuple[tuple[str, float, float], ...] = (
    ("callwright build mine/recipe.yaml --preview 5", 1.2, 2.0),
    ("callwright build mine/recipe.yaml", 1.5, 3.0),
    ("callwright review serve", 0.3, 0.3),
    ("callwright review push", 1.2, 1.6),
    ("callwright release create v1", 0.5, 0.6),
    ("callwright evaluate v1 --model template/v1", 1.2, 1.5),
    ("callwright audit readers --model template/v1 --limit 10", 0.8, 1.0),
    ("callwright view --out page", 1.2, 2.0),
    ("callwright report --out report.html", 0.7, 0.8),
    ("callwright export v1 --to openai --with-template", 0.5, 0.6),
    (
        (
            'callwright query "select kind, count(*) as n from accepted_samples group by all order'
            ' by all"'
        ),
        0.2,
        0.25,
    ),
)


def interrupted_walk(someone: Traveller) -> Iterator[Interrupted]:
    """The long steps again, each ended by ctrl-C, by SIGTERM, and then run."""
    assert someone.run("callwright init mine").code == 0
    for command, *moments in LONG:
        ended = tuple(
            Step("", command, someone.run(command, When(by, cpu)), signal=by)
            for by, cpu in zip(("ctrl-C", "SIGTERM"), moments, strict=True)
        )
        yield Interrupted(ended, Step("", command, someone.run(command)))
    # These never end by themselves.
    for command, moment in ((_VIEW, _when_served), (HEAVY, lambda _someone, by: When(by, 2.0))):
        yield Interrupted(
            tuple(
                Step("", command, someone.run(command, moment(someone, by)), signal=by)
                for by in ("ctrl-C", "SIGTERM")
            ),
            Step("", command, None, "it goes on until it is ended"),
        )


HEAD = (
    "| page | step | seconds | CPU s | said after (CPU s) | exit | first words"
    " |\n|---|---|---:|---:|---:|---:|---|\n"
)


def row_of(step: Step) -> str:
    """The step as a row of a table in Markdown."""
    command = without_comment(step.command).replace("|", "\\|").replace(
        "\n", " "
    ) + f" ({step.signal})" * bool(step.signal)
    if step.ran is None:
        return f"| {step.page} | `{command}` | | | | | not run: {step.reason} |\n"
    ran = step.ran
    first = "" if ran.first_seconds is None else f"{ran.first_seconds:.1f} ({ran.first_cpu:.1f})"
    ending = "" if ran.ending_seconds is None else f"; ended in {ran.ending_seconds:.1f} s"
    words = ran.first_words.replace("|", "\\|")[:90]
    code = "killed" if ran.code is None else ran.code
    return (
        f"| {step.page} | `{command}` | {ran.seconds:.1f} | {ran.cpu:.1f} | {first} |"
        f" {code}{ending} | {words} |\n"
    )
