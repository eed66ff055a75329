"""Import tool catalogs, and run the stages that turn a tool into samples with gold calls."""
