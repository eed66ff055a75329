"""Run where trl is installed: a step of GRPOTrainer with the environments of an export, and a tiny
model whose words are given.

Arguments: the folder, and how many tasks. The gold calls of each even task are made, one a message,
and none in the others. It prints the reward of each task, and the tools that the prompt shows.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

folder, most = Path(sys.argv[1]).absolute() / "environment", int(sys.argv[2])
sys.path.insert(0, str(folder))
os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from environment import TASKS, dataset, environment_factory  # noqa: E402 - it stands in the folder
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM  # noqa: E402
from trl import GRPOConfig, GRPOTrainer, data_utils  # noqa: E402

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
shipped = Path(data_utils.__file__).parent / "chat_templates"
plain = Tokenizer(models.BPE({letter: at for at, letter in enumerate(ALPHABET)}, []))
plain.pre_tokenizer, plain.decoder = (
    pre_tokenizers.ByteLevel(add_prefix_space=False),
    decoders.ByteLevel(),
)
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|endoftext|>"
)
tokenizer.add_special_tokens({"additional_special_tokens": SPECIAL})
tokenizer.padding_side = "left"
tokenizer.chat_template = (shipped / "qwen3.jinja").read_text(encoding="utf-8")
sizes = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
}
model = Qwen2ForCausalLM(
    Qwen2Config(vocab_size=len(tokenizer) + 8, max_position_embeddings=65536, **sizes)
)
chosen = list(TASKS)[:most]
seen: dict[str, float] = {}
shown: list[str] = []


class Trainer(GRPOTrainer):
    """TRL's own, but for what the model says."""

    def _generate_single_turn(self, prompt_ids, *_, **__):
        said = [self._said(tokenizer.decode(ids)) for ids in prompt_ids]
        return [
            tokenizer.encode(text + "<|im_end|>", add_special_tokens=False) for text in said
        ], None

    def _said(self, prompt: str) -> str:
        shown.append(prompt)
        at, task = next((at, one) for at, one in enumerate(chosen) if one.request in prompt)
        made = prompt.count("<tool_response>")
        turns = (*task.solution, task.reply)
        if at % 2 or made >= len(turns):
            return "Done."
        turn = turns[made]
        named = (
            ("reply_to_user", {"text": turn})
            if isinstance(turn, str)
            else (turn.tool, turn.arguments)
        )
        call = {"name": named[0], "arguments": dict(named[1])}
        return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"

    def _calculate_rewards(self, *given, **named):
        for one in self.environments:
            seen[one._episode.task.key] = one.get_reward()
        return super()._calculate_rewards(*given, **named)


with tempfile.TemporaryDirectory() as place:
    settings = GRPOConfig(
        output_dir=place,
        max_steps=1,
        per_device_train_batch_size=2 * most,
        num_generations=2,
        report_to=[],
        use_cpu=True,
        max_completion_length=30000,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        num_iterations=1,
        beta=0.0,
        shuffle_dataset=False,
    )
    rows = dataset().select(range(most))
    trainer = Trainer(
        model=model,
        args=settings,
        train_dataset=rows,
        processing_class=tokenizer,
        environment_factory=environment_factory,
    )
    trainer.train()
    logged = {
        name: value
        for entry in trainer.state.log_history
        for name, value in entry.items()
        if "reward" in name
    }
tools = [line for line in shown[0].splitlines() if line.startswith('{"type": "function"')]
print(
    json.dumps(
        {"rewards": [seen.get(task.key) for task in chosen], "tools": len(tools), "logged": logged}
    )
)
