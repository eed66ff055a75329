"""What each review screen looks like, and its words."""
