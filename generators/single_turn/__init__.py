"""A request of one turn: perfect, imperfect or irrelevant (HammerBench 4.2.1)."""
