"""Shifts: the user turns to something else, or gives an argument another value (HammerBench 4.2.3)."""
