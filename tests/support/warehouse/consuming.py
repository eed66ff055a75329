"""Environments of their own below `.cache` for the libraries that read our exports, and asking a
script in one.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.flows.small_builds import TOP

CACHE = TOP / ".cache" / "consumers"
SCRIPTS = TOP / "tests" / "support" / "warehouse" / "consumers"
PLAYED = ["pytest", "-e", str(TOP)]  # what plays tasks needs our core package besides
WANTED = {
    "old": ["datasets>=3,<4"],
    "new": ["datasets>=5,<6", "mlcroissant>=1.1,<2"],
    "trl": ["transformers==5.23.0", "datasets>=5,<6", "jinja2"],
    "train": ["torch==2.13.0", "trl==1.16.0", "transformers==5.23.0", "datasets>=5,<6"],
    "llamafactory": ["transformers==5.6.0", "datasets==4.0.0"],
    "inspect": ["inspect_ai"],
    "play_in_inspect": [*PLAYED, "inspect_ai"],
    "play_in_nemo_gym": [
        *PLAYED,
        "aiohttp",
        "anthropic",
        "devtools",
        "fastapi",
        "gprof2dot",
        "httpx",
        "hydra-core",
        "itsdangerous",
        "mcp>=1.27,<2",
        "omegaconf",
        "openai",
        "orjson",
        "pandas",
        "psutil",
        "pydot",
        "python-multipart",
        "ray>=2.55",
        "requests",
        "rich",
        "tqdm",
        "uvicorn",
        "uvloop",
        "wandb",
        "yappi",
    ],
    "play_in_openenv": [*PLAYED, "openenv>=0.10"],
    "play_in_trl": [*PLAYED, "trl==1.16.0", "transformers>=5.2", "jmespath"],
    "play_in_verifiers": [*PLAYED, "verifiers==0.4.0"],
    "bfcl": [
        "filelock",
        "numpy",
        "pandas",
        "requests",
        "pydantic",
        "mpmath",
        "python-dotenv",
        "tenacity",
    ],
}
# what these would bring along is gigabytes, and not asked here; NeMo Gym states a newer Python than
# it takes
BARE = {
    "play_in_nemo_gym": ["nemo-gym==0.4.0", "openai==2.7.2"],
    "trl": ["trl==1.16.0"],
    "llamafactory": ["llamafactory==0.9.5"],
    "bfcl": [
        "bfcl-eval==2026.3.23",
        "tree_sitter==0.21.3",
        "tree-sitter-java==0.21.0",
        "tree-sitter-javascript==0.21.4",
    ],
}


def python_of(name: str) -> Path:
    """The Python of an environment, which is made where it is not there."""
    CACHE.mkdir(parents=True, exist_ok=True)
    home, uv = CACHE / name, str(TOP / ".cache" / "uv" / "bin" / "uv")
    python = home / "bin" / "python"
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "ready").exists():
            shutil.rmtree(home, ignore_errors=True)
            subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, home], check=True)
            pip = [uv, "pip", "install", "--quiet", "--python", str(python)]
            links = [
                word
                for place in os.environ.get("PIP_FIND_LINKS", "").split()
                for word in ("--find-links", place)
            ]
            subprocess.run([*pip, *links, *WANTED[name]], check=True)
            if name in BARE:
                bare = [
                    "python3",
                    "-m",
                    "pip",
                    "--python",
                    python,
                    "install",
                    "--quiet",
                    "--no-deps",
                ]
                subprocess.run([*bare, "--ignore-requires-python", *BARE[name]], check=True)
            (home / "ready").touch()
    return python


def ran_in(
    name: str, words: Sequence[object], **variables: str
) -> subprocess.CompletedProcess[str]:
    """What the Python of an environment makes of these words, without a network."""
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "WANDB_MODE": "disabled"}
    asked = [str(python_of(name)), *map(str, words)]
    return subprocess.run(
        asked, env=dict(os.environ) | quiet | variables, capture_output=True, text=True, check=False
    )


def report_of(name: str, script: str, cache: Path, *words: object) -> Any:
    """What a script says that runs in an environment, as the last line of what it prints."""
    done = ran_in(name, [SCRIPTS / script, *words], HF_DATASETS_CACHE=str(cache))
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
