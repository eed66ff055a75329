"""Shifts: the user turns to something else, or gives an argument another value (HammerBench 4.2.3).

The paper tells 1,462 overridings in all; its files hold 395 of them with an inserted turn.
"""

INTENTS, ARGUMENTS = "intent_shifts", "argument_shifts"
