"""The results of audits: as numbers, as texts, and as pictures."""
