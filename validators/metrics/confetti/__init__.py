"""CONFETTI's figures: strict and soft call match, chains, acts, parameter validity (CONFETTI 4)."""
