"""Review: from the first question to people to the decision that counts."""
