"""What invents or imports: tool catalogs, and the stages that turn a tool into a sample with
gold calls.
"""
