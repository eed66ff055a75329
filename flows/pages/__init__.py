"""What people look at: the page of `callwright view`, served or as files, and the report."""
