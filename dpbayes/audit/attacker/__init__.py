"""What somebody who sees releases can tell by them, of a table or of the mechanism."""
