"""Draft the sentences that people say to tools; template/v1 words and reads requests by them."""
