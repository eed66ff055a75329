"""The adapter to Label Studio: a server by URL and token, or our own server if none is given."""
