"""Simulated conversations with a required complexity (CONFETTI 3.1)."""

GROUP = "conversational"
CONVERSATION = "conversation"
