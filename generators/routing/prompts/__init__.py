"""The prompts of questions over whole catalogs."""
