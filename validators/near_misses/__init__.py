"""Near misses: calls that are almost the gold ones and mean something else, made by code and without any language."""
