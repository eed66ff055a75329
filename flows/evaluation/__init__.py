"""Evaluation: asks candidate models on a release, and scores and grades their answers."""
