"""What may be installed besides the core, and the sentence for whoever asks for what is not."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Literal, NamedTuple

from callwright.warehouse.errors import ConfigurationError

ExtraName = Literal["flows", "review", "mcp", "dask", "local", "notebook", "traffic"]


class Extra(NamedTuple):
    """A set of packages under one name: the module by which it is known, and what it is for."""

    module: str
    purpose: str

    @property
    def is_installed(self) -> bool:
        """Whether its packages are there; nothing is imported."""
        return find_spec(self.module) is not None


EXTRAS: dict[ExtraName, Extra] = {
    "flows": Extra("prefect", "Prefect's flows, deployments and pages, and the demo"),
    "review": Extra("label_studio_sdk", "people's reviews in Label Studio"),
    "mcp": Extra("mcp", "the tools of MCP servers"),
    "dask": Extra("distributed", "shards on Dask's workers"),
    "local": Extra("xllamacpp", "models in this process (local/PATH.gguf)"),
    "notebook": Extra("plotly", "the plots of the report's notebook"),
    "traffic": Extra("phonenumbers", "what finds personal data in conversations"),
}


def command_for(name: ExtraName) -> str:
    """What installs an extra."""
    return f"pip install 'callwright[{name}]'"


def require_extra(name: ExtraName) -> None:
    """Raise ConfigurationError where an extra is not installed, with the command that brings it."""
    if not EXTRAS[name].is_installed:
        lacking = f"callwright is installed without {EXTRAS[name].purpose}."
        raise ConfigurationError(f"{lacking} The extra {name!r} brings it: {command_for(name)}")


def require_package(name: str, use: str) -> ModuleType:
    """A package of somebody else's. Raises ConfigurationError with the command that brings it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        problem = f"{use} needs the package {name}, which is not installed: pip install {name}"
        raise ConfigurationError(problem) from error
