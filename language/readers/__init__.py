"""Values that words state, read by Duckling and by our rules: amounts with units, days and
times, moments that depend on now.
"""
