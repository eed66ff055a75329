"""Run where LLaMA-Factory is installed, without torch: its data set list, converter and templates
over an export; print counts.

Arguments: the folder, then names of templates. What needs torch stands in: media, of which there
are none, and checks of devices.
"""

import json
import sys
import types
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def stand_in(name, **members):
    """A module in the place of one that needs torch."""
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


class NoMedia:
    """What reads pictures, films and sounds: a row has none."""

    def process_messages(self, messages, *_):
        return messages

    def process_token_ids(self, inputs, labels, *_):
        return inputs, labels


package = Path(find_spec("llamafactory").submodule_search_locations[0])
stand_in("peft.utils", SAFETENSORS_WEIGHTS_NAME="a", WEIGHTS_NAME="b")
stand_in("llamafactory.extras.misc", use_modelscope=bool, use_openmind=bool)
stand_in("llamafactory.data.mm_plugin", get_mm_plugin=lambda *_, **__: NoMedia())
stand_in("llamafactory.data", __path__=[str(package / "data")])
stand_in("llamafactory.data.processor", __path__=[str(package / "data" / "processor")])

from datasets import load_dataset  # noqa: E402
from llamafactory.data.converter import align_dataset  # noqa: E402
from llamafactory.data.parser import get_dataset_list  # noqa: E402
from llamafactory.data.processor.supervised import SupervisedDatasetProcessor  # noqa: E402
from llamafactory.data.template import TEMPLATES  # noqa: E402

folder, *templates = sys.argv[1:]
options = types.SimpleNamespace(
    streaming=False,
    preprocessing_num_workers=None,
    overwrite_cache=True,
    mask_history=False,
    train_on_prompt=False,
    cutoff_len=10**6,
)
alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
bytewise = Tokenizer(
    models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[])
)
bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bytewise.decoder = decoders.ByteLevel()


def said_in(row):
    """What has to stand in what is taught: all words of the assistant, each tool that it calls."""
    for one in [*row["_prompt"], *row["_response"]]:
        if one["role"] == "function":
            calls = json.loads(one["content"])
            yield from (call["name"] for call in (calls if isinstance(calls, list) else [calls]))
        elif one["role"] == "assistant":
            yield one["content"]


counted = Counter()
names = [*json.loads((Path(folder) / "dataset_info.json").read_text(encoding="utf-8"))]
for attributes in get_dataset_list(names, folder):
    rows = load_dataset(
        "json", data_files=str(Path(folder) / attributes.dataset_name), split="train"
    )
    aligned = align_dataset(rows, attributes, options, types.SimpleNamespace(local_process_index=0))
    counted["rows"] += len(rows)
    counted["read"] += sum(bool(row["_response"]) for row in aligned)
    for name in templates:
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=bytewise, eos_token="<|im_end|>")
        processor = SupervisedDatasetProcessor(
            template=TEMPLATES[name], tokenizer=tokenizer, processor=None, data_args=options
        )
        for row in aligned:
            asked = (row["_prompt"], row["_response"], row["_system"], row["_tools"])
            _, labels = processor._encode_data_example(*asked, [], [], [])
            taught = tokenizer.decode([label for label in labels if label >= 0])
            counted[name] += all(words in taught for words in said_in(row))
print(json.dumps(counted))
