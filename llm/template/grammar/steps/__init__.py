"""Requests for several steps: the phrases in which tools are asked for, and which calls such a request needs, from what."""
