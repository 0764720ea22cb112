"""What was rendered, as the requests of model providers, and back: pure functions on plain data."""
