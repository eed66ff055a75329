"""CallNavi's figures: cleaned and repaired answers, routing, structure, AST match, stability."""
