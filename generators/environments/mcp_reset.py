"""MCP servers that are reset: what one answers a call after others, from a state that is always the same.

A server holds one state, so those who ask take turns. Whoever asks says which calls have changed it since the last reset; where it
has been brought elsewhere it is reset, and these calls are made again.
"""

import asyncio
import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, TypeVar

import orjson
from pydantic import JsonValue

from callwright.generators.environments.linking import IDENTIFYING, words_of
from callwright.generators.environments.mcp_server import (
    LONGEST_PROBLEM,
    McpAddress,
    call_mcp_tool,
    server_at,
    variables_of,
    when_closed,
)
from callwright.generators.environments.protocol import CallResponse, Reset
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Arguments, Call, content_key

FOLDER = "{folder}"
SHOWN_FOLDER = "/workspace"  # what a copy is called in calls and answers, wherever it is
_Value = TypeVar("_Value", JsonValue, Arguments)
LARGEST_TEXT = 2**16  # bytes of a file that are told as they are


class Made(NamedTuple):
    """A call that was made, under the server's own name of its tool, and what it was answered."""

    call: Call
    answer: CallResponse


class ResetServer:
    """A server and its reset, one for this process."""

    def __init__(self, address: McpAddress, reset: Reset, patience: float) -> None:
        """`patience` are the seconds that a call may take, and a command that resets. Nothing is started yet."""
        self._reset, self._patience = reset, patience
        self._lock = threading.Lock()
        self._past: tuple[Call, ...] | None = (
            None  # what has changed it since it was reset; None where that is not known
        )
        self._copy: TemporaryDirectory[str] | None = None
        self._stated = self._address = address

    def ask_after(self, past: Sequence[Made], call: Call, *, writes: bool) -> CallResponse:
        """What a call is answered after these, which changed the server; `writes` says whether this one may change it, too."""
        with self._lock:
            if (lapse := self._brought_to(past)) is not None:
                return lapse
            answer = self._ask(call)
            if answer.passing:
                self._past = None
            elif writes:
                self._past = (*(one.call for one in past), call)
            return answer

    def files_after(self, past: Sequence[Made]) -> CallResponse:
        """What the files of the server's copy hold after these calls: text as it is, of all else a hash."""
        with self._lock:
            if (lapse := self._brought_to(past)) is not None:
                return lapse
            root = self._address.folder
            paths = sorted(path for path in root.rglob("*") if path.is_file())
            return CallResponse({path.relative_to(root).as_posix(): _content(path) for path in paths})

    def begin(self) -> McpAddress:
        """Reset the server; where it is then. Raises ConfigurationError, which names it, where it can't be reset."""
        with self._lock:
            self._begin()
            return self._address

    def close(self) -> None:
        """Remove the copy; a server that is asked again gets a new one."""
        with self._lock:
            self._past = None
            if self._copy is not None:
                self._copy.cleanup()
                self._copy = None

    def _brought_to(self, past: Sequence[Made]) -> CallResponse | None:
        """Bring the server to where these calls have left it; where that fails, the lapse that answers in its place."""
        try:
            self._bring_to(past)
        except ConfigurationError as error:
            self._past = None
            return CallResponse(problem=str(error), passing=True)
        return None

    def _bring_to(self, past: Sequence[Made]) -> None:
        """Make the server hold what these calls have made of it. Raises ConfigurationError where it can't be."""
        wanted = tuple(one.call for one in past)
        if self._past is None or wanted[: len(self._past)] != self._past:
            self._begin()
        for made in past[len(self._past or ()) :]:
            answer = self._ask(made.call)
            if answer.passing:
                raise ConfigurationError(answer.problem)
            if _essence(answer) != _essence(made.answer):
                raise ConfigurationError(
                    f"{self._stated.shown} answers {made.call.tool} otherwise after a reset than before it, so that the reset does"
                    " not restore what it held at first, or its answers depend on chance."
                )
            self._past = (*(self._past or ()), made.call)

    def _begin(self) -> None:
        self._past = None
        if self._reset.tool:
            answer = self._ask(Call(tool=self._reset.tool, arguments=dict(self._reset.arguments)))
            if answer.problem:
                raise ConfigurationError(
                    f"{self._stated.shown} was not reset by its tool {self._reset.tool!r}: {answer.problem}"
                )
        else:
            if self._stated.command:
                server_at(self._address).close()
            if self._reset.folder is not None:
                self._copy_anew(self._reset.folder)
            else:
                self._run()
        self._past = ()

    def _copy_anew(self, folder: Path) -> None:
        if self._copy is None:
            self._copy = TemporaryDirectory(prefix="callwright-")
            when_closed(self.close)
        place = Path(self._copy.name).resolve() / folder.name
        try:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(folder, place)
        except (OSError, shutil.Error) as error:
            raise ConfigurationError(
                f"{self._stated.shown} was not reset: the folder {str(folder)!r} can't be copied ({error})."
            ) from error
        first, *words = self._stated.command
        own = self._stated.folder / first
        found = [str(own) if own.is_file() else first, *words]
        self._address = self._stated._replace(
            command=tuple(word.replace(FOLDER, str(place)) for word in found), folder=place
        )

    def _run(self) -> None:
        """Run the command that resets, with the variables that the server's own has."""
        words = self._reset.command
        try:
            subprocess.run(  # noqa: S603 - the recipe's own command
                words, cwd=self._stated.folder, env=variables_of(self._stated), check=True,
                capture_output=True, text=True, timeout=self._patience, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            reason = f"did not end within {self._patience:g} seconds"
            raise ConfigurationError(f"{self._stated.shown} was not reset: {' '.join(words)!r} {reason}.") from error
        except subprocess.CalledProcessError as error:
            last = next((line for line in reversed((error.stderr or error.stdout).splitlines()) if line.strip()), "")
            wrote = f" It wrote: {last[:LONGEST_PROBLEM]}" if last else ""
            raise ConfigurationError(
                f"{self._stated.shown} was not reset: {' '.join(words)!r} ended with {error.returncode}.{wrote}"
            ) from error
        except OSError as error:
            raise ConfigurationError(
                f"{self._stated.shown} was not reset: {' '.join(words)!r} can't be run ({error.strerror})."
            ) from error

    def _ask(self, call: Call) -> CallResponse:
        """What the server answers, wherever its copy is."""
        place = str(self._address.folder) if self._copy is not None else ""
        arguments = _renamed(call.arguments, SHOWN_FOLDER, place) if place else call.arguments
        question = call_mcp_tool(self._address, call.tool, arguments, self._patience)
        with ThreadPoolExecutor(1) as other:  # who asks may be in a loop of its own
            answer = other.submit(asyncio.run, question).result()
        if not place:
            return answer
        return answer._replace(
            response=_renamed(answer.response, place, SHOWN_FOLDER), problem=answer.problem.replace(place, SHOWN_FOLDER)
        )


_servers: Final[dict[tuple[int, str], ResetServer]] = {}
_lock: Final = threading.Lock()


def reset_server(address: McpAddress, reset: Reset, patience: float) -> ResetServer:
    """The server of an address and its reset, one for this process: who asks it knows what others have made of it."""
    key = os.getpid(), content_key([*address.command, address.url, str(address.folder), reset.model_dump(mode="json")])
    with _lock:
        if key not in _servers:
            _servers[key] = ResetServer(address, reset, patience)
        return _servers[key]


def _renamed(value: _Value, old: str, new: str) -> _Value:
    found: _Value = orjson.loads(orjson.dumps(value).decode().replace(old, new))
    return found


def _content(path: Path) -> JsonValue:
    body = path.read_bytes()
    try:
        text = body.decode() if len(body) <= LARGEST_TEXT and b"\0" not in body else None
    except UnicodeDecodeError:
        text = None
    return content_key([body.hex()]) if text is None else text


def _essence(answer: CallResponse) -> JsonValue:
    """What may not differ between two answers to the same call: whether it was done, and what things are known by."""
    return [bool(answer.problem), _identities(answer.response)]


def _identities(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {
            name: one if not isinstance(one, dict | list) else _identities(one)
            for name, one in value.items()
            if isinstance(one, dict | list) or IDENTIFYING & set(words_of(name)[-1:])
        }
    return [_identities(one) for one in value] if isinstance(value, list) else None
