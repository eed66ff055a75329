"""What people look at: the page of `callwright view`, served or written as files, and the report
on one page.
"""
