"""Registered prompts, dumps, checks of budgets, and what is shown of a render on a screen."""
