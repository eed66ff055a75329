"""Which folder is which package: all stand at the top and install as parts of `callwright`."""

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

setup(
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
