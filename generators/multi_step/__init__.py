"""Multi-step paths: what a user wants, the calls that get there, and the proof that only one path does (ComplexFuncBench 2.1)."""
