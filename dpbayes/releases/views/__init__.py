"""The views of a release for a recipient, computed from the released numbers, at no cost of privacy."""
