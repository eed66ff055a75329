import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from annotation.server_files import (
    Places,
    load_credentials,
    new_credentials,
    only_one,
    save_credentials,
    serving_process,
)
from warehouse.errors import AnnotationError


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_credentials_are_for_their_owner_only_and_come_back_as_kept(places):
    assert load_credentials(places) is None
    made = new_credentials().with_changes(port=4711)
    save_credentials(places, made)
    assert places.credentials.stat().st_mode & 0o777 == 0o600
    assert load_credentials(places) == made
    assert len(made.token) == 40
    assert new_credentials().password != made.password


def test_damaged_credentials_are_an_error_that_says_what_to_do(places):
    places.credentials.write_text("{", encoding="utf-8")
    with pytest.raises(AnnotationError, match=r"credentials\.json is damaged .* Restore it"):
        load_credentials(places)


@pytest.mark.parametrize("text", ["", "[]", '{"pid": "x", "port": 1}', '{"pid": 999999999, "port": 1}'])
def test_a_record_of_no_living_process_names_none(text, places):
    places.record.write_text(text, encoding="utf-8")
    assert serving_process(places) is None


def test_a_process_that_only_inherited_the_number_is_not_taken_for_ours(places):
    places.record.write_text(f'{{"pid": {os.getpid()}, "port": 1}}', encoding="utf-8")
    assert serving_process(places) is None


def test_a_process_started_for_this_record_is_ours(places):
    with subprocess.Popen([sys.executable, "-c", "input()", str(places.record)], stdin=subprocess.PIPE) as process:
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
    with pytest.raises(AnnotationError, match="has not finished in 0 s"), only_one(places, 0.1):
        pass
    done.set()
    thread.join()
    with only_one(places, 0.1):
        pass
