"""The least epsilon at which released answers are good enough."""
