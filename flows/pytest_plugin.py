"""pytest plug-in: runs a test for each sample of a release.

Its imports happen only where a test is marked.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from callwright.flows.api.releases import KeptSample

_FIXTURE, _MARK = "callwright_sample", "callwright_release"
_ABOUT = (
    f"{_MARK}(name, split='', kinds=(), home=None): run the test for each sample of a release, a"
    f" name or the Path of a folder that `export --to records` wrote; the fixture {_FIXTURE} is the"
    " sample."
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line("markers", _ABOUT)


@pytest.fixture
def callwright_sample(request: pytest.FixtureRequest) -> "KeptSample":
    """A sample of the release that the test is marked with: request, calls, messages and tools."""
    sample: KeptSample = request.param
    told = {"kind": sample.sample.kind, "request": sample.request}
    request.node.user_properties.extend(told.items())
    request.node.add_report_section("setup", "sample", "\n".join(map(": ".join, told.items())))
    return sample


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test case for each sample, with its key as the id."""
    if _FIXTURE not in metafunc.fixturenames:
        return
    test, mark = metafunc.function.__name__, metafunc.definition.get_closest_marker(_MARK)
    if mark is None:
        problem = f"{test} takes {_FIXTURE}: mark it with @pytest.mark.{_MARK}('v1')."
        raise pytest.Collector.CollectError(problem)
    from callwright.warehouse.errors import CallwrightError

    try:
        samples = _samples(metafunc.config.rootpath, *mark.args, **mark.kwargs)
    except (CallwrightError, TypeError) as error:
        raise pytest.Collector.CollectError(f"{test}, {_MARK}: {error}") from error
    metafunc.parametrize(_FIXTURE, samples, ids=[sample.key for sample in samples], indirect=True)


def _samples(
    root: Path,
    name: str | Path,
    *,
    split: str = "",
    kinds: Sequence[str] = (),
    home: Path | str | None = None,
) -> "list[KeptSample]":
    """Return the samples of a split and of these kinds; finding none is an error.

    Paths are relative to pytest's root.
    """
    from callwright.flows.api.releases import load_release
    from callwright.warehouse.errors import ConfigurationError

    release = load_release(
        root / name if isinstance(name, Path) else name, home=home and root / home
    )
    known = release.count_kinds()
    for what, wanted_names, there in (
        ("split", [split] if split else [], release.splits),
        ("kind", kinds, known),
    ):
        strange = [one for one in wanted_names if one not in there]
        if strange:
            raise ConfigurationError(
                f"The release has no {what} {strange[0]!r}; it has {', '.join(there) or 'none'}."
            )
    return [
        kept
        for kept in release
        if split in ("", kept.split) and (not kinds or kept.sample.kind in kinds)
    ]
