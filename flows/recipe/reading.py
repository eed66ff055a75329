"""Reading a recipe: a YAML file, read strictly, with absolute paths and its prompts."""

from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError

from callwright.flows.next_step import command_line
from callwright.flows.plugins import Extension, add_from_file
from callwright.flows.recipe.own_sentences import read_sentence_file
from callwright.flows.recipe.own_words import read_examples, read_values
from callwright.flows.recipe.parts import ImportedTools, Recipe, SampleFiles, ToolSource
from callwright.flows.recipe.problems import (
    LocatedYaml,
    RecipeFaults,
    RecipeProblem,
    TextPlace,
    YamlFault,
    explain,
    read_yaml,
)
from callwright.flows.recipe.rules import PromptFile
from callwright.flows.recipe.schema import DataPath
from callwright.generators.environments.protocol import EnvironmentPart, located
from callwright.llm.tool_sentences import SentenceFile
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.registry import PluginError, file_of

SCHEMA_FILE = "recipe.schema.json"
# editors read it, relative to the recipe
_SCHEMA_LINE = f"# yaml-language-server: $schema={SCHEMA_FILE}\n"


class CheckedRecipe(NamedTuple):
    """The problems of a recipe; `recipe` is the recipe if there are none."""

    recipe: Recipe | None
    problems: tuple[RecipeProblem, ...]

    @property
    def required(self) -> Recipe:
        """The recipe. Raises ConfigurationError that names all problems."""
        if self.recipe is None:
            raise ConfigurationError(explain(self.problems))
        return self.recipe


def read_recipe(path: Path) -> Recipe:
    """Read a recipe from a YAML file, and make its paths absolute.

    Raises ConfigurationError that names all errors with their lines.
    """
    return read_recipe_file(path, with_files=False).required


def read_recipe_to_build(path: Path) -> Recipe:
    """Read a recipe from a YAML file, and check that the files of its tools and samples exist.

    Raises ConfigurationError as `read_recipe`.
    """
    return read_recipe_file(path, with_files=True).required


def parse_recipe(loaded: dict[str, Any], folder: Path, named: str) -> Recipe:
    """Return a recipe from its settings.

    Its paths are relative to `folder`; errors call it `named`.
    """
    return _checked(LocatedYaml(loaded, {}, {}), folder, named, with_files=False).required


def read_recipe_file(path: Path, *, with_files: bool) -> CheckedRecipe:
    """Return the recipe in a YAML file, or its problems.

    `with_files` checks that the files of its tools and samples exist.
    """
    try:
        source = read_yaml(path.read_text(encoding="utf-8"))
    except YamlFault as error:
        return _wrong(path, f"is not valid YAML: {error}", error.place)
    except OSError as error:
        return _wrong(path, f"can't be read: {error.strerror}", TextPlace())
    except UnicodeDecodeError as error:
        problem = f"is not in UTF-8: {error.reason} at byte {error.start}"
        return _wrong(path, problem, TextPlace())
    if not isinstance(source.data, dict):
        content_form = "empty"
        if source.data is not None:
            content_form = "a list" if isinstance(source.data, list) else repr(source.data)
        return _wrong(
            path,
            f"must be a mapping of settings such as 'name: mine', but is {content_form}",
            TextPlace(1, 1),
        )
    return _checked(source, path.absolute().parent, str(path), with_files=with_files)


def _wrong(path: Path, message: str, place: TextPlace) -> CheckedRecipe:
    return CheckedRecipe(None, (RecipeProblem(str(path), *place, "", message),))


def _checked(source: LocatedYaml, folder: Path, named: str, *, with_files: bool) -> CheckedRecipe:
    faults = RecipeFaults(named, source)
    faults.add_repeated()
    # before all that may name their rows
    extensions = _read_extensions(source.data.get("extensions"), folder, faults)
    faults.add_names()
    if with_files:
        faults.add_absent_files(folder)
    prompts = _read_prompts(source.data.get("prompts"), folder, faults)
    try:
        recipe = Recipe.model_validate(source.data)
    except ValidationError as error:
        faults.add_invalid(error)
    if faults.problems:
        return CheckedRecipe(None, faults.problems)
    own = _read_own_words(recipe, folder, faults) | _read_sentences(recipe, folder, faults)
    if faults.problems:
        return CheckedRecipe(None, faults.problems)
    read = {
        **{
            name: tuple(_located(one, folder) for one in getattr(recipe, name))
            for name in ("tools", "sources", "avoid")
        },
        "extensions": extensions,
        "prompts": prompts,
        **own,
    }
    if recipe.personal_data.vault is not None:
        vault = (folder / recipe.personal_data.vault).absolute()
        read["personal_data"] = recipe.personal_data.model_copy(update={"vault": vault})
    return CheckedRecipe(recipe.model_copy(update=read), ())


def _read_extensions(stated: object, folder: Path, faults: RecipeFaults) -> tuple[Extension, ...]:
    """Return the rows of a recipe's own files, each added to its table; record their faults."""
    read = []
    for at, one in enumerate(stated if isinstance(stated, list) else ()):
        try:
            path, name = file_of(
                one if isinstance(one, str) else f"{one['file']}:{one['name']}", folder
            )
            read.append(add_from_file(path, name))
        except PluginError as error:
            faults.add(("extensions", at), str(error).rstrip("."))
        except (KeyError, TypeError):
            continue  # the settings' own classes refuse it
    return tuple(read)


def _read_own_words(recipe: Recipe, folder: Path, faults: RecipeFaults) -> dict[str, Any]:
    """Return the recipe's values and examples with their files' content; record faults."""
    values, examples = {}, recipe.examples
    for name, source in recipe.values.items():
        try:
            values[name] = read_values(name, source, folder)
        except ValueError as error:
            faults.add(("values", name), str(error).rstrip("."))
    try:
        examples = examples and read_examples(examples, folder)
    except ValueError as error:
        faults.add(("examples",), str(error).rstrip("."))
    return {"values": values, "examples": examples}


def _read_sentences(recipe: Recipe, folder: Path, faults: RecipeFaults) -> dict[str, Any]:
    """Return the content of the files of sentences for the recipe's tools; record faults."""
    read, places = list[SentenceFile](), dict[Path, int]()
    for at, source in enumerate(recipe.tools):
        for number, one in enumerate(source.sentences):
            path = (folder / one).absolute()
            place: DataPath = ("tools", at, "sentences")
            place += (number,) if len(source.sentences) > 1 else ()
            if places.setdefault(path, at) != at:
                continue  # two sources whose tools are in one file
            try:
                read.append(read_sentence_file(path))
            except ValueError as error:
                faults.add(place, str(error).rstrip("."))
    return {"sentence_files": tuple(read)} if places else {}


def _read_prompts(prompts: object, folder: Path, faults: RecipeFaults) -> dict[str, PromptFile]:
    """Return a recipe's prompts with their texts; record faults with the prompts' own lines."""
    if not isinstance(prompts, dict):
        return {}
    from callwright.flows.stages import prompt_paths
    from callwright.llm.prompts import validate_own_prompt

    prompt_files, read = prompt_paths(), {}
    for name, prompt in prompts.items():
        file = prompt.get("file") if isinstance(prompt, dict) else prompt
        if not isinstance(file, str):
            continue  # the settings' own classes refuse it
        path = (folder / file).absolute()
        try:
            text = path.read_text(encoding="utf-8")
            if name in prompt_files:
                validate_own_prompt(prompt_files[name], text)
        except OSError as error:
            faults.add(("prompts", name), f"{str(path)!r} can't be read: {error.strerror}")
            continue
        except ValueError as error:  # also a text that is not UTF-8
            faults.add(("prompts", name), f"{str(path)!r} can't be used: {str(error).rstrip('.')}")
            continue
        read[name] = PromptFile(file=path, text=text)
    return read


def _located(source: ToolSource | SampleFiles, folder: Path) -> ToolSource | SampleFiles:
    """Return a source of tools or samples with absolute paths."""
    if isinstance(source, EnvironmentPart):
        return located(source, folder)
    if not isinstance(source, ImportedTools | SampleFiles):
        return source
    if isinstance(source.path, Path):
        return source.model_copy(update={"path": (folder / source.path).absolute()})
    return source.model_copy(
        update={"path": tuple((folder / one).absolute() for one in source.path)}
    )


def write_first_recipe(folder: Path) -> Path:
    """Write `recipe.yaml` into the folder, and the schema that its first line names to editors.

    Raises ConfigurationError if there is a recipe already.
    """
    path = folder / "recipe.yaml"
    if path.exists():
        raise ConfigurationError(
            f"{str(path)!r} exists already. Edit it, or name another folder: `callwright init"
            " FOLDER`."
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_schema(folder / SCHEMA_FILE)
    first = (
        files("callwright.flows.recipe").joinpath("first_recipe.yaml").read_text(encoding="utf-8")
    )
    commands = {"CHECK": ("recipe", "check", path), "PREVIEW": ("build", path, "--preview", 5)}
    for mark, words in commands.items():
        first = first.replace(mark, command_line(*words))
    path.write_text(_SCHEMA_LINE + first, encoding="utf-8")
    return path


def write_schema(path: Path) -> Path:
    """Write the JSON Schema of recipes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(schema_text(), encoding="utf-8")
    return path


def schema_text() -> str:
    """Return the JSON Schema of recipes as text."""
    from callwright.flows.recipe.schema import recipe_schema

    return orjson.dumps(recipe_schema(), option=orjson.OPT_INDENT_2).decode() + "\n"
