"""CONFETTI's figures: calls matched strictly and softly, chains, dialogue acts, validity of
parameters (CONFETTI 4).
"""
