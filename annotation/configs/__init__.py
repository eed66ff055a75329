"""The layouts of the review screens, and their words."""
