"""How values are said and read: one folder a language, and the machinery that all languages share."""
