"""Training of small models, for studies that need models of their own."""
