"""Shifts: the user wants something else, or gives an argument another value (HammerBench 4.2.3).

The paper reports 1,462 overridings in all; 395 of those in its files have an inserted turn.
"""

INTENTS, ARGUMENTS = "intent_shifts", "argument_shifts"
