"""A real release: integers with exact noise, and the account of what was spent."""
