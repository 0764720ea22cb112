"""Counting: tokenizers, chat formats, costs of images and tools, limits, the count cache.

Nothing is loaded here: ``import priompt_py.tokens`` costs nothing, tiktoken and the vocabularies come in at
the first count. Ask :mod:`priompt_py.tokens.tokenizer` for a tokenizer.
"""
