"""Which folder is which package: all stand at the top and install as parts of `callwright`."""

import re
from pathlib import Path

from setuptools import find_namespace_packages, setup

FOLDERS = (
    "annotation",
    "flows",
    "generators",
    "language",
    "llm",
    "recipes",
    "validators",
    "warehouse",
)
places = {"callwright": "callwright"} | {f"callwright.{folder}": folder for folder in FOLDERS}


def describe() -> str:
    """Return the README for a package index: without relative links and marked parts."""
    text = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    text = re.sub(r"<!-- checkout -->.*?<!-- end -->\n*", "", text, flags=re.DOTALL)
    return re.sub(r"\[([^]]+)\]\((?!https?:)[^)]*\)", r"\1", text)


setup(
    long_description=describe(),
    long_description_content_type="text/markdown",
    package_dir=places,
    packages=[
        *places,
        *(
            f"{package}.{inner}"
            for package, folder in places.items()
            if package != "callwright"
            for inner in find_namespace_packages(folder, exclude=["*__pycache__*"])
        ),
    ],
)
