"""The template language: parsing, evaluating, formatting and checking of templates."""
