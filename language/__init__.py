"""How values are stated and parsed: one folder a language, and the machinery that all languages
share.
"""
