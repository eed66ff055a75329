"""What calls of tools hold: what people call tools and parameters, what these mean, and values
for them.
"""
