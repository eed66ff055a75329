"""Official (input, result) pairs of the papers' evaluators, held against ours: `python -m
tests.conformance FILE`.
"""
