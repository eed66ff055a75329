"""Run where `trl` is installed, without torch: write each row of an export with chat templates that
TRL ships, and print counts.

Arguments: the folder, then names of templates. Each call and each thing that is said must stand in
the text.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from datasets import load_dataset
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from trl import data_utils

folder, *templates = sys.argv[1:]
shipped = Path(data_utils.__file__).parent / "chat_templates"
loaded = load_dataset(folder)
counted = Counter()
for template in templates:
    text = (shipped / f"{template}.jinja").read_text(encoding="utf-8")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    )
    for row in (row for split in loaded.values() for row in split):
        assert data_utils.is_conversational(row)
        tools = json.loads(row["tools"])
        written = tokenizer.apply_chat_template(
            row["messages"], tools=tools, chat_template=text, tokenize=False
        )
        for message in row["messages"]:
            assert message["content"].strip() in written, (template, message)
            for call in message.get("tool_calls") or ():
                made = json.dumps(call["function"]["arguments"], ensure_ascii=False)
                assert made in written, (template, made)
                assert call["function"]["name"] in written
        assert "null" not in json.dumps(
            [message.get("tool_calls") for message in row["messages"] if message.get("tool_calls")]
        )
        counted[template] += 1
print(json.dumps(counted))
