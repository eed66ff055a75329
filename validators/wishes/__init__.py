"""What users ask for, read by rules: the deeds and values that their words name, with no word left over."""
