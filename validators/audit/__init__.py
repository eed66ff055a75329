"""Measuring the checks: defects of known kinds are injected into accepted samples.

No check imports anything of this.
"""
