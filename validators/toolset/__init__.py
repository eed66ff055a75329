"""Judging toolsets: tools that do the same, tools too complex to be asked for, resources that
can't be managed.
"""
