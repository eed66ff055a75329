"""For coding agents: `mcp` serves this folder to them, `skills` writes how jobs are done."""

import os
from pathlib import Path

from callwright.flows.cli.screen import CommandResult, TextTable, command, commands
from callwright.flows.loops import run_loop
from callwright.warehouse.errors import ConfigurationError

app = commands()


@command(app, "mcp", "mcp my-folder --allow-writes")
def mcp(folder: Path = Path(), *, allow_writes: bool = False) -> None:
    """Serve a folder to a coding agent over MCP, on standard input and output.

    The agent checks tools and recipes, estimates builds, and reads what was built and evaluated. It
    names files below the folder only.

    Args:
        folder: The folder to serve. Its work folder is CALLWRIGHT_HOME or .callwright in it.
        allow_writes: Also offer what writes files, asks models and so may cost: write_recipe,
            preview, build, audit, create_release, evaluate and export.
    """
    from callwright.flows.agents.folder import AgentFolder
    from callwright.flows.agents.serving import make_server
    from callwright.flows.world_server import serve_stdio

    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {str(folder)!r}.")
    os.chdir(folder)
    run_loop(serve_stdio(make_server(AgentFolder(Path.cwd().resolve(), allow_writes))))


@command(app, "skills", "skills --to .claude/skills")
def skills(*, to: Path | None = None) -> CommandResult:
    """List callwright's skills for coding agents, or write them to a folder.

    A skill is a folder with a SKILL.md that says how a job is done. Agents read it when it fits.

    Args:
        to: The folder that an agent reads its skills from, such as .claude/skills or
            .agents/skills. Skills of callwright that are there are replaced.
    """
    from callwright.flows.agents.skills import read_skills, write_skills

    if to is None:
        rows = [(one.name, one.description) for one in read_skills()]
        return CommandResult(
            [one._asdict() for one in read_skills()], [TextTable(("skill", "what it does"), rows)]
        )
    written = write_skills(to)
    return CommandResult({"files": written}, [*map(str, written)])
