"""A local server's files, and who may start it; the supervisor has its own tests."""

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from callwright.annotation.studio.server import HOST, Places, free_port, only_one, serving_process
from callwright.warehouse.errors import CallwrightError


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path, "tea server")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"pid": "x", "port": 1}', '{"pid": 999999999, "port": 1}']
)
def test_a_record_of_no_living_process_names_none(text, places):
    places.record.write_text(text, encoding="utf-8")
    assert serving_process(places) is None


def test_a_process_that_only_inherited_the_number_is_not_taken_for_ours(places):
    places.record.write_text(f'{{"pid": {os.getpid()}, "port": 1}}', encoding="utf-8")
    assert serving_process(places) is None


def test_a_process_started_for_this_record_is_ours(places):
    with subprocess.Popen(
        [sys.executable, "-c", "input()", str(places.record)], stdin=subprocess.PIPE
    ) as process:
        places.record.write_text(f'{{"pid": {process.pid}, "port": 8080}}', encoding="utf-8")
        deadline = time.monotonic() + 10
        while serving_process(places) is None and time.monotonic() < deadline:
            time.sleep(0.02)  # the new process is still becoming the command it was started for
        assert serving_process(places) == (process.pid, 8080)
        process.communicate(b"\n")


def test_of_two_starts_one_waits_and_gives_up_with_a_sentence(places):
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with only_one(places, 5):
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(5)
    with (
        pytest.raises(
            CallwrightError,
            match=r"Another process has been starting the tea server .* for more than 0 s",
        ),
        only_one(places, 0.1),
    ):
        pass
    done.set()
    thread.join()
    with only_one(places, 0.1):
        pass


@pytest.mark.enable_socket
def test_a_port_in_use_is_given_up_for_a_free_one():
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        wanted = taken.getsockname()[1]
        assert free_port(wanted, "tea server") not in (0, wanted)
    assert free_port(wanted, "tea server") == wanted
