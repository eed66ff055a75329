"""The metrics of the papers, over their own result files and over our predictions."""
