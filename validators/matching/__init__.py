"""How two calls are compared: Rouge-L, typed values, and what differs between calls."""
