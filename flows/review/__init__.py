"""Review: what people are asked and what they say, from the first question to the decision that
holds.
"""
