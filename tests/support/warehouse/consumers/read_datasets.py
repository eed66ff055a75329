"""Run where `datasets` is installed: load an export, print the rows of each split; by
mlcroissant too if it is there.
"""

import importlib.util
import json
import sys
from pathlib import Path

from datasets import load_dataset

folder = Path(sys.argv[1])
loaded = load_dataset(str(folder))
report = {
    "rows": {name: split.num_rows for name, split in loaded.items()},
    "columns": sorted(next(iter(loaded.values())).features),
}
for split in loaded.values():
    for row in split:
        assert all(message["role"] for message in row["messages"])
        assert isinstance(json.loads(row["tools"]), list)
if (folder / "croissant.json").exists() and importlib.util.find_spec("mlcroissant"):
    import mlcroissant

    described = mlcroissant.Dataset(str(folder / "croissant.json"))
    assert not described.metadata.issues.errors
    report["croissant"] = {
        one.id: len(list(described.records(one.id))) for one in described.metadata.record_sets
    }
print(json.dumps(report))
