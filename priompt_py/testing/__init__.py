"""For people who want to know that their prompts keep to their budgets, and for this package's own tests."""
