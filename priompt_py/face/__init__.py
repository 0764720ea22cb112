"""What users hold: ``render``, ``Program``, ``Rendered``."""
