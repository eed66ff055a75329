"""Drafting the sentences that people say to tools, for template/v1 to word and read requests by."""
