"""Python functions as models: they receive OpenAI messages and tools and return calls or a text.

A user's function may never return. Each call of a plain function runs with a time limit in its
own thread, which is not joined at exit, so that Ctrl-C always stops the evaluation.
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
from callwright.llm.wire_format import wire_messages, wire_tools
from callwright.llm.written_calls import read_object
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, LlmCall, Tool, content_key
from callwright.warehouse.wire_names import wire_names

Messages = list[dict[str, Any]]
AnswerFunction = Callable[[Messages, list[dict[str, Any]]], Any]
LONGEST_CALL = 120.0  # seconds
_PAIR = 2  # a name and arguments
_SHOWN = 120
_FORMS = "calls are (name, arguments) or {'name': …, 'arguments': {…}}, in a list"


class FunctionModel:
    """A ChatModel backed by a function; its errors become ReplyError."""

    def __init__(
        self,
        name: str,
        function: AnswerFunction,
        record: Callable[[LlmCall], object],
        stage: str,
        timeout: float = LONGEST_CALL,
    ) -> None:
        """Call `function` for at most `timeout` seconds, in a thread unless it is async.

        `record` gets each call of `stage`.
        """
        self._name = name
        self._timeout = timeout
        self._function = function
        self._record = record
        self._stage = stage

    @property
    def name(self) -> str:
        """The name of the candidate as a model."""
        return self._name

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        """Return the function's text, parsed as `answer`."""
        return parse_answer((await self.complete(prompt, sample_index=sample_index)).text, answer)

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        """Return what the function answers to the messages of a prompt. Raises ReplyError.

        Its calls use the names on the wire.
        """
        names = wire_names(tools)
        messages = wire_messages(prompt.messages, names)
        started, error = time.perf_counter(), ""
        try:
            given = await self._given(messages, wire_tools(tools, names))
            return read_given(given, self._name)._replace(names=names)
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
        """Do nothing; there is nothing to close."""

    async def _given(self, messages: Messages, tools: list[dict[str, Any]]) -> object:
        pending = asyncio.create_task(self._called(messages, tools))
        try:
            await asyncio.sleep(0)  # it begins
            end = time.monotonic() + self._timeout
            # not asyncio.timeout: an answer that came while the loop was busy is in time
            while not pending.done() and (left := end - time.monotonic()) > 0:
                await asyncio.wait([pending], timeout=left)
            if not pending.done():
                raise ReplyError(f"{self._name} gave no answer within {self._timeout:g} s.")
        finally:
            pending.cancel()  # does nothing to one that ended
        if pending.cancelled():
            raise ReplyError(f"{self._name} raised CancelledError.")
        return pending.result()

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


def read_given(given: object, name: str) -> Completion:
    """Return what a function named `name` has given, in any of its forms. Raises ReplyError."""
    _validate_size(given, name)
    # such as the message of OpenAI's client
    if isinstance(given, BaseModel) and not isinstance(given, Call):
        given = given.model_dump()
    text, stated_calls = "", given
    if isinstance(given, str) or given is None:
        text, stated_calls = given or "", None if given else []
    elif isinstance(given, Mapping) and not {"name", "function"} & given.keys():
        text = given.get("content") or ""
        stated_calls = given.get("tool_calls") or ([] if "content" in given else given)
    elif isinstance(given, Mapping | Call):
        stated_calls = [given]
    if not isinstance(text, str) or not (
        stated_calls is None or isinstance(stated_calls, Sequence)
    ):
        problem = f"{name} gave {_brief(given)}, which is no list of calls; {_FORMS}."
        raise ReplyError(problem)
    validate_text(text)
    if stated_calls is None or (text and not stated_calls):
        return Completion(text, None)
    calls = tuple(_call(one, name) for one in stated_calls)
    validate_calls(calls)
    return Completion(text, calls)


def _validate_size(given: object, name: str) -> None:
    """Raise ReplyError if an answer is too deep or large, before anything recursive sees it."""
    waiting, met = [(given, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        met += 1
        if depth > DEEPEST:
            problem = f"{name} gave an answer that is nested more than {DEEPEST} deep."
            raise ReplyError(problem)
        if met > LONGEST:
            raise ReplyError(f"{name} gave an answer of more than {LONGEST} values.")
        if isinstance(value, BaseModel):
            value = vars(value)
        if isinstance(value, Mapping):
            value = [*value.values()]
        if isinstance(value, list | tuple):
            waiting += [(member, depth + 1) for member in value]
        elif isinstance(value, float) and not isfinite(value):
            raise ReplyError(f"{name} gave the number {value}, which JSON does not have.")


def _call(stated: object, whose: str) -> Call:
    name, arguments = _parts(stated)
    try:
        if isinstance(arguments, str):
            validate_text(arguments)
            arguments = read_object(arguments.strip() or "{}")
        parsed_call = Call(tool=str(name or ""), arguments=arguments)
        orjson.dumps(parsed_call.arguments)
    except (ValidationError, ValueError, TypeError) as error:
        problem = f"{whose} gave {_brief(stated)}, which is no call; {_FORMS}."
        raise ReplyError(problem) from error
    return parsed_call


async def _in_a_thread(
    function: AnswerFunction, messages: Messages, tools: list[dict[str, Any]]
) -> object:
    """Return a function's result from a thread, which is left behind if the caller is cancelled."""
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
            is_kept = isinstance(raised, Exception | SystemExit)
            is_lost = not is_kept or isinstance(raised, StopIteration)
            error = RuntimeError(type(raised).__name__) if is_lost else raised
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
    """Raise SystemExit in a thread as soon as it runs Python, so that no endless loop goes on."""
    if thread.ident is not None and thread.is_alive():
        ident, ending = ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ending)


def _parts(stated: object) -> tuple[object, object]:
    """Return the name and arguments of a call in any accepted form; None for what is missing."""
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
