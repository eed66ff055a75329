"""Benchmarks of callwright's speed and memory; never a test."""
