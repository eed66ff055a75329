"""Names of models for tests, from what callwright has as data; none is written down."""

from callwright.llm.known_models import example_models, known_models
from callwright.llm.prices import find_price, knows_tokenizer

THINKING = example_models()["small"]  # of OpenAI, at a price that litellm knows
OTHER = example_models()["other"]  # of another maker
# OpenAI's that do not think, take schemas and have all prices and a tokenizer: what an own server
# may be asked for as well.
PLAIN, ANOTHER, *_ = PLAIN_ONES = [
    f"openai/{name}"
    for name, entry in sorted(known_models().items())
    if entry.get("litellm_provider") == "openai"
    and not entry.get("supports_reasoning")
    and entry.get("supports_response_schema")
    and entry.get("input_cost_per_token_batches")
    and "output_cost_per_token" in entry
    and ":" not in name
    and knows_tokenizer(f"openai/{name}")
]
IN, CACHED, OUT = find_price(PLAIN)[:3]  # dollars a token
