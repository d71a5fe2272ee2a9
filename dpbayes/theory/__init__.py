"""The papers' claims: printed and certified, their truth beside them, and the settings at which they fail."""
