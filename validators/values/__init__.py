"""What rules prove of a call's values: each one's standing by the words that were said, and never what the call means."""
