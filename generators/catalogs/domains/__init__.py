"""Ten domains of everyday business as data: what each keeps, and what can be done with it."""
