"""The recipes that come with callwright; each builds as it is, or its first lines say how."""
