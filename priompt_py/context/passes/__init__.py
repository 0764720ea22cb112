"""Passes: what a conversation may lose, and in which order. Each takes messages and gives messages with a report."""
