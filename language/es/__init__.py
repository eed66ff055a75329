"""Spanish: its words in YAML, its rules in modules."""
