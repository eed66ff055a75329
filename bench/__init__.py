"""What callwright's speed and memory are, measured; never a test."""
