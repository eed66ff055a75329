"""How values are stated and parsed: one folder per language and the code that they share."""
