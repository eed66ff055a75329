"""What people do with their phones: the functional categories, a few to a file, with their goals in both languages."""
