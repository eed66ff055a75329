"""The adapter to Label Studio: a server by URL and token, and one of our own where none is
given.
"""
