"""What a request to a language model cost."""

from warehouse.records.base import Record


class LlmCall(Record):
    """One request: tokens, cost in US dollars, latency in seconds, and whether the ledger already had the answer."""

    request: str
    build: str = ""
    stage: str
    model: str
    prompt_version: str
    sample_index: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    latency: float = 0.0
    cached: bool = False
    planted: str = ""
    error: str = ""
