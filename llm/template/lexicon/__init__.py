"""Which parameters the template model gives a tool: rows by category, and the kinds that they share."""
