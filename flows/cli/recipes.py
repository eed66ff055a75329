"""`recipe`: checking recipes, and the schema by which editors know them."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.flows.cli.screen import AsJson, present, say, show, show_json
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.flows.recipe import RecipeProblem

WRONG = 2  # as of any command that is given a wrong recipe


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    recipe = typer.Typer(help="Check recipes, and help editors with them.", no_args_is_help=True, rich_markup_mode=None)
    recipe.command("check", epilog="Example: callwright recipe check recipe.yaml")(check)
    recipe.command("schema", epilog="Example: callwright recipe schema --out recipe.schema.json")(schema)
    recipe.command("prompts", epilog="Example: callwright recipe prompts recipe.yaml --only draft_request")(prompts)
    app.add_typer(recipe, name="recipe")


def check(recipes: Annotated[list[Path], typer.Argument(help="Recipes, YAML files.")], as_json: AsJson = False) -> None:
    """List all that is wrong with recipes: file, line and column, what was meant, and what there is at that place.

    Of a recipe without mistakes it is told which of what it asks for its tools do not allow, and why.
    """
    from callwright.flows.recipe import check_recipe

    found = [problem for path in recipes for problem in check_recipe(path) or _of_its_tools(path)]
    problems = [problem for problem in found if not problem.is_remark]
    if as_json:
        show_json(found)
    else:
        for problem in found:
            show(str(problem))
        wrong = len({problem.file for problem in problems})
        say(f"Mistakes: {len(problems)}, in {wrong} of {len(recipes)} recipes." if problems else "Nothing is wrong.")
    if problems:
        raise typer.Exit(WRONG)


def _of_its_tools(path: Path) -> "list[RecipeProblem]":
    """What a recipe's tools do not allow of what it asks for, as far as that can be told before a build."""
    from callwright.flows.planning.possible import recipe_remarks
    from callwright.flows.recipe import read_recipe_to_build
    from callwright.flows.settings import read_settings

    return recipe_remarks(path, read_recipe_to_build(path), read_settings())


def schema(
    out: Annotated[Path | None, typer.Option(help="The file to write; printed unless given.")] = None,
    as_json: AsJson = False,
) -> None:
    """Give the JSON Schema of recipes. Editors read it where a recipe begins with `# yaml-language-server: $schema=FILE`."""
    from callwright.flows.recipe import schema_text, write_schema

    if out is None:
        show(schema_text().rstrip())
        return
    path = write_schema(out)
    present({"schema": str(path)}, str(path), as_json=as_json)
    if not as_json:
        say(f"The first line of a recipe beside it: # yaml-language-server: $schema={path.name}")


def prompts(
    recipe: Annotated[Path, typer.Argument(help="The recipe, a YAML file.")],
    only: Annotated[str, typer.Option(help="The prompt of this name alone.")] = "",
    model: Annotated[str, typer.Option(help="One model for all three roles, by its litellm name.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show each prompt that a build asks, whole, with your tools in it: no model is called."""
    from callwright.flows.planning.showing_prompts import prompts_page, show_prompts
    from callwright.flows.recipe import read_recipe_to_build
    from callwright.flows.settings import read_settings

    chosen = read_recipe_to_build(recipe).as_asked(model=model, limit=0)
    found = asyncio.run(show_prompts(chosen, read_settings()))
    shown = [one for one in found if only in ("", one.name)]
    if not shown:
        named = ", ".join(one.name for one in found)
        raise ConfigurationError(f"A build of {recipe} asks no prompt {only!r}; it asks {named}.")
    if as_json:
        show_json([one._asdict() for one in shown])
        return
    show("\n\n".join(one.markdown for one in shown) if only else prompts_page(shown, str(recipe)))
