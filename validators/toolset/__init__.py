"""Judging toolsets: duplicate tools, too complex tools, resources that can't be managed."""
