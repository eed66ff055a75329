"""Faults in other people's datasets, found from what they hold themselves."""
