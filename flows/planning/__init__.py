"""Planning: which samples, conversations, paths and questions a build shall make, and what that
will cost.
"""
