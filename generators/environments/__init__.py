"""Environments, which answer the calls of multi-step samples (ComplexFuncBench 2.1)."""
