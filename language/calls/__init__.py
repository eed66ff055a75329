"""How calls of tools are stated and parsed: what people call tools and parameters, and what they say for their values."""
