"""The metrics of the papers, for their own result files and for predictions."""
