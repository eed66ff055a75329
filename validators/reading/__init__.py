"""What a reader that does not know the gold makes of a sample: it writes the calls, and only a
difference is settled.
"""
