"""A real Chromium for the tests that look at pages."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# The one without any window takes a quarter less of a processor for the same page.
CHROMIUM = ("chromium-headless-shell", "chromium")
# Debian's Chromium as root, speaking to nobody but the page.
QUIET = (
    "--no-sandbox --disable-background-networking --disable-component-update --disable-sync"
    " --no-first-run"
)
# Without a graphics card drawing is a third of what a page costs; without what makes it smooth it
# is half of that.
PLAIN = (
    "--disable-gpu --disable-gpu-compositing --in-process-gpu --disable-threaded-animation"
    " --disable-checker-imaging"
)

# Else each page may get a process of its own, which compiles Label Studio's scripts again: a third
# of what a page costs.
ONE_PROCESS = "--renderer-process-limit=1"


@contextmanager
def open_browser() -> Iterator[object]:
    """A headless browser; where there is none, a skip, and a failure in CI.

    While it is open this thread can run no event loop of its own, so it is opened late and closed
    soon.
    """
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        reason = f"There is no {' or '.join(CHROMIUM)}; `make test` installs it."
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=chromium, args=[*QUIET.split(), *PLAIN.split(), ONE_PROCESS]
        )
        yield opened
        opened.close()
