"""The recipes that the product ships; each builds as it stands unless its first lines say what
it needs.
"""
