"""The functions of the travel world as data: one file a domain, and where values come from."""
