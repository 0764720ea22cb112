"""Running a prompt with a model: captures, tools, streams, the live mode."""
