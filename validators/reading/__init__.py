"""What a reader without the gold makes of a sample: its calls, and settled differences."""
