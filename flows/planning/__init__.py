"""Planning: which samples, conversations, paths and questions to make, and what they cost."""
