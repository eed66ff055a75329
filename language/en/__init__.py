"""English: its numerals, clock, phrases and words."""
