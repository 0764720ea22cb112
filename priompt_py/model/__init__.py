"""Plain data: elements, their compiled form, rendered prompts. No I/O, no tokenizer."""
