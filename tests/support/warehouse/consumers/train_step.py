"""Run where `trl` and `torch` are installed: train a model that is made here for one step on an
export, and print what came of it.

Arguments: the trainer (sft, dpo, kto or grpo), the folder of the export, a folder to work in.
"""

import json
import math
import re
import sys
from pathlib import Path

import torch
from datasets import load_dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import (
    DPOConfig,
    DPOTrainer,
    GRPOConfig,
    GRPOTrainer,
    KTOConfig,
    KTOTrainer,
    SFTConfig,
    SFTTrainer,
    data_utils,
)

kind, folder, work = sys.argv[1:]
torch.manual_seed(0)
rows = load_dataset(folder)
rows = rows["train"] if "train" in rows else next(iter(rows.values()))

# A tokenizer of the bytes there are, and a model of a few thousand parameters.
learned = Tokenizer(models.BPE(unk_token="<unk>"))
learned.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
alphabet = trainers.BpeTrainer(
    vocab_size=600,
    special_tokens=["<unk>", "<|im_start|>", "<|im_end|>", "<|endoftext|>"],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
)
learned.train_from_iterator((json.dumps(row, default=str) for row in rows), alphabet)
template = (Path(data_utils.__file__).parent / "chat_templates" / "qwen3.jinja").read_text(
    encoding="utf-8"
)
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=learned, unk_token="<unk>", eos_token="<|im_end|>", pad_token="<|endoftext|>"
)
tokenizer.chat_template = template


def made() -> str:
    """A model on the disk: trainers with a reference load it a second time."""
    place = Path(work) / "model"
    Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            head_dim=16,
            max_position_embeddings=8192,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    ).save_pretrained(place)
    return str(place)


common = {
    "output_dir": work,
    "max_steps": 1,
    "per_device_train_batch_size": 2,
    "report_to": [],
    "use_cpu": True,
    "bf16": False,
    "save_strategy": "no",
    "logging_steps": 1,
    "learning_rate": 1e-2,
}


def reward(completions, gold, **_columns):
    """How many calls the completions make of those that are due; a model of chance makes none,
    so length sets them apart.
    """
    made = [
        len(re.findall(r"<tool_call>", one[0]["content"])) == len(json.loads(due))
        for one, due in zip(completions, gold, strict=True)
    ]
    return [
        float(right) + len(one[0]["content"]) / 100
        for right, one in zip(made, completions, strict=True)
    ]


match kind:
    case "sft":
        trainer = SFTTrainer(
            made(),
            SFTConfig(max_length=4096, **common),
            train_dataset=rows,
            processing_class=tokenizer,
        )
    case "dpo":
        options = DPOConfig(max_length=4096, **common)
        trainer = DPOTrainer(made(), args=options, train_dataset=rows, processing_class=tokenizer)
    case "kto":
        options = KTOConfig(max_length=4096, **common)
        trainer = KTOTrainer(made(), args=options, train_dataset=rows, processing_class=tokenizer)
    case "grpo":
        options = GRPOConfig(num_generations=2, max_completion_length=8, **common)
        trainer = GRPOTrainer(
            made(), reward, args=options, train_dataset=rows, processing_class=tokenizer
        )
    case _:
        raise SystemExit(f"There is no trainer {kind!r}.")
before = {name: one.detach().clone() for name, one in trainer.model.named_parameters()}
result = trainer.train()
moved = sum(not torch.equal(one, before[name]) for name, one in trainer.model.named_parameters())
report = {
    "rows": len(rows),
    "steps": result.global_step,
    "finite": math.isfinite(result.training_loss),
    "moved": moved > 0,
}
print(json.dumps(report))
