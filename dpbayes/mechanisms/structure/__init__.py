"""A network's graph chosen from a private table."""
