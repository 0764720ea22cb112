"""From an element tree to the smallest cutoff that fits, and what is in at it."""
