"""What callwright asks for can be installed beside the libraries that its exports are for, and
beside what its users have: the sets are resolved, and nothing is installed.
"""

from pathlib import Path

import pytest

from tests.support.environments import build_wheel, run_uv

pytestmark = pytest.mark.slow

SETS = [
    ("mcp", "verifiers>=0.4"),
    ("", "openenv>=0.10"),  # whose fastmcp takes no mcp 2
    ("mcp", "trl>=1.16"),
    ("mcp", "inspect-ai"),
    ("mcp", "langfuse>=5"),
    ("mcp", "openai>=3"),
    ("litellm", "openai>=3"),
    ("all", "openai>=3"),
    ("all", "verifiers>=0.4"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.mark.parametrize("python", ["3.11", "3.13"])
@pytest.mark.parametrize(("extra", "library"), SETS)
def test_callwright_can_be_installed_beside(
    wheel: Path, tmp_path: Path, extra: str, library: str, python: str
) -> None:
    asked, resolved = tmp_path / "asked.txt", tmp_path / "resolved.txt"
    ours = f"callwright[{extra}]" if extra else "callwright"
    asked.write_text(f"{ours} @ {wheel.as_uri()}\n{library}\n", encoding="utf-8")
    run_uv("pip", "compile", str(asked), "--output-file", str(resolved), "--python-version", python)
    versions = dict(
        line.split("==", 1)
        for line in resolved.read_text(encoding="utf-8").splitlines()
        if "==" in line and not line.startswith(" ")
    )
    assert "duckdb" in versions
    assert ("litellm" in versions) == (extra in {"litellm", "all"})
