"""Chinese: its numerals, clock, phrases and words."""
