"""Texts as vectors: embedders, and the check that all vectors pass before anything is searched by them.

``endpoint`` asks a server that speaks OpenAI's embeddings interface (OpenAI, LM Studio, Ollama, vLLM), ``client`` asks
through a client object of the package ``openai``, ``offline`` has a small model whose weights come with a package.
``vectors`` checks and normalises what any embedder gives, ours or a user's.
"""
