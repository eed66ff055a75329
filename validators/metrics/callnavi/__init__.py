"""CallNavi's figures: answers washed and repaired, routing, structure and AST match, stability
over several runs.
"""
