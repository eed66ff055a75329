"""What models read that do not see the gold: one call a turn, or several at once, step after step, or over a catalog."""
