"""Measuring the checks: inject known kinds of defects into accepted samples.

No check imports anything from here.
"""
