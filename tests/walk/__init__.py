"""A walk through the doors: every shell block of the pages that people begin with, run as it is
written.
"""
