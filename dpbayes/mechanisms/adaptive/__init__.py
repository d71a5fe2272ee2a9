"""A release whose graph, measurements and reading share one budget of zero-concentrated privacy."""
