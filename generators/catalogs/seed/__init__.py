"""The seed catalog's data: one YAML file a category, and the schemas that they share."""
