"""Python functions as models: given OpenAI's messages and tools, they give calls or a text.

What somebody else has written may never come back. Each call of a plain function has a thread of
its own that nobody waits for at the end, so that Ctrl-C always reaches the evaluation, and a limit
of time.
"""

import asyncio
import ctypes
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import Context, copy_context
from math import isfinite
from threading import Thread
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from callwright.llm.answers import DEEPEST, LONGEST, parse_answer, validate_calls, validate_text
from callwright.llm.chat import Answer, Completion, Prompt
from callwright.llm.wire_format import wire_messages, wire_names, wire_tools
from callwright.llm.written_calls import read_object
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, LlmCall, Tool, content_key

Messages = list[dict[str, Any]]
AnswerFunction = Callable[[Messages, list[dict[str, Any]]], Any]
LONGEST_CALL = 120.0  # seconds
_PAIR = 2  # a name and arguments
_SHOWN = 120
_FORMS = "calls are (name, arguments) or {'name': …, 'arguments': {…}}, in a list"


class FunctionModel:
    """A ChatModel behind which a function stands; what goes wrong in it is a ReplyError."""

    def __init__(
        self,
        name: str,
        function: AnswerFunction,
        record: Callable[[LlmCall], object],
        stage: str,
        timeout: float = LONGEST_CALL,
    ) -> None:
        """Call `function`, in a thread unless it is async, for `timeout` seconds at most;
        `record` gets each call of `stage`.
        """
        self._name = name
        self._timeout = timeout
        self._function = function
        self._record = record
        self._stage = stage

    @property
    def name(self) -> str:
        """The name that the candidate has as a model."""
        return self._name

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        """The text that the function gives, read as `answer`."""
        return parse_answer((await self.complete(prompt, sample_index=sample_index)).text, answer)

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        """What the function gives to the messages of a prompt."""
        return await self.answer(
            [dict(message) for message in wire_messages(prompt.messages)], tools
        )

    async def answer(self, messages: Messages, tools: Sequence[Tool]) -> Completion:
        """What the function gives, its calls by the names on the wire. Raises ReplyError."""
        names = wire_names(tools)
        started, error = time.perf_counter(), ""
        try:
            given = await self._given(messages, wire_tools(tools, names))
            return self._read(given)._replace(names=names)
        except ReplyError as raised:
            error = str(raised)
            raise
        finally:
            latency = time.perf_counter() - started
            key = content_key(orjson.loads(orjson.dumps([self._name, messages])))
            call = LlmCall(
                request=key, stage=self._stage, model=self._name, prompt_version="", latency=latency
            )
            self._record(call.with_changes(error=error))

    async def close(self) -> None:
        """Nothing to give back."""

    async def _given(self, messages: Messages, tools: list[dict[str, Any]]) -> object:
        asked = asyncio.create_task(self._called(messages, tools))
        try:
            await asyncio.sleep(0)  # it begins
            end = time.monotonic() + self._timeout
            # not asyncio.timeout: an answer that came while the loop was busy is in time
            while not asked.done() and (left := end - time.monotonic()) > 0:
                await asyncio.wait([asked], timeout=left)
            if not asked.done():
                raise ReplyError(f"{self._name} gave no answer within {self._timeout:g} s.")
        finally:
            asked.cancel()  # does nothing to one that ended
        if asked.cancelled():
            raise ReplyError(f"{self._name} raised CancelledError.")
        return asked.result()

    async def _called(self, messages: Messages, tools: list[dict[str, Any]]) -> object:
        try:
            if inspect.iscoroutinefunction(self._function):
                return await self._function(messages, tools)
            given = await _in_a_thread(self._function, messages, tools)
            return await given if inspect.isawaitable(given) else given
        except (Exception, SystemExit) as error:  # a candidate's own mistake, of whatever type
            # half a character can't be kept
            said = str(error).encode(errors="backslashreplace").decode()
            raise ReplyError(f"{self._name} raised {type(error).__name__}: {said}") from error

    def _read(self, given: object) -> Completion:
        self._validate_size(given)
        # such as the message of OpenAI's client
        if isinstance(given, BaseModel) and not isinstance(given, Call):
            given = given.model_dump()
        text, stated = "", given
        if isinstance(given, str) or given is None:
            text, stated = given or "", None if given else []
        elif isinstance(given, Mapping) and not {"name", "function"} & given.keys():
            text = given.get("content") or ""
            stated = given.get("tool_calls") or ([] if "content" in given else given)
        elif isinstance(given, Mapping | Call):
            stated = [given]
        if not isinstance(text, str) or not (stated is None or isinstance(stated, Sequence)):
            problem = f"{self._name} gave {_brief(given)}, which is no list of calls; {_FORMS}."
            raise ReplyError(problem)
        validate_text(text)
        if stated is None or (text and not stated):
            return Completion(text, None)
        calls = tuple(self._call(one) for one in stated)
        validate_calls(calls)
        return Completion(text, calls)

    def _validate_size(self, given: object) -> None:
        """Raise ReplyError where an answer can't be read or kept: too deep or too large, before
        anything recursive sees it.
        """
        waiting, met = [(given, 0)], 0
        while waiting:
            value, depth = waiting.pop()
            met += 1
            if depth > DEEPEST:
                problem = f"{self._name} gave an answer that is nested more than {DEEPEST} deep."
                raise ReplyError(problem)
            if met > LONGEST:
                raise ReplyError(f"{self._name} gave an answer of more than {LONGEST} values.")
            if isinstance(value, BaseModel):
                value = vars(value)
            if isinstance(value, Mapping):
                waiting += [(member, depth + 1) for member in value.values()]
            elif isinstance(value, float) and not isfinite(value):
                raise ReplyError(f"{self._name} gave the number {value}, which JSON does not have.")
            elif isinstance(value, list | tuple):
                waiting += [(member, depth + 1) for member in value]

    def _call(self, stated: object) -> Call:
        name, arguments = _parts(stated)
        try:
            if isinstance(arguments, str):
                validate_text(arguments)
                arguments = read_object(arguments.strip() or "{}")
            made = Call(tool=str(name or ""), arguments=arguments)
            orjson.dumps(made.arguments)
        except (ValidationError, ValueError, TypeError) as error:
            problem = f"{self._name} gave {_brief(stated)}, which is no call; {_FORMS}."
            raise ReplyError(problem) from error
        return made


async def _in_a_thread(
    function: AnswerFunction, messages: Messages, tools: list[dict[str, Any]]
) -> object:
    """What a function gives, called in a thread that is left behind where nobody waits for it
    any more.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[object] = loop.create_future()

    def end(result: object, error: BaseException | None) -> None:
        if not answer.done():
            answer.set_result(result) if error is None else answer.set_exception(error)

    def call() -> None:
        result, error = None, None
        try:
            result = function(messages, tools)
        except BaseException as raised:  # noqa: BLE001 - raised where it is waited for
            is_kept = isinstance(raised, Exception | SystemExit) and not isinstance(
                raised, StopIteration
            )
            error = raised if is_kept else RuntimeError(type(raised).__name__)
        with suppress(RuntimeError):  # the loop is closed: it was stopped meanwhile
            loop.call_soon_threadsafe(end, result, error)

    def run(context: Context) -> None:
        with suppress(SystemExit):  # it was asked to end in the moment in which it did
            context.run(call)

    thread = Thread(target=run, args=(copy_context(),), name="candidate", daemon=True)
    thread.start()
    try:
        return await answer
    except asyncio.CancelledError:
        _ask_to_end(thread)
        raise


def _ask_to_end(thread: Thread) -> None:
    """Raise SystemExit in a thread, as soon as it runs Python: a loop without end would take the
    time of all that comes after.
    """
    if thread.ident is not None and thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
        )


def _parts(stated: object) -> tuple[object, object]:
    """The name and the arguments of a call as it is stated; None where it has none."""
    match stated:
        case Call(tool=name, arguments=arguments):
            return name, arguments
        case {"function": Mapping() as function}:
            return function.get("name"), function.get("arguments", {})
        case Mapping():
            return stated.get("name", stated.get("tool")), stated.get("arguments", {})
        case [str() as name, arguments] if len(stated) == _PAIR:
            return name, arguments
    return None, None


def _brief(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
