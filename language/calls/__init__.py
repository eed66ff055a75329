"""What tool calls contain: names of tools and parameters, their meanings, and values for them."""
