"""What coding agents use: the MCP server of a folder, and skills, which say how jobs are done."""
