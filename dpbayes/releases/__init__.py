"""A real release: integers with exact noise in a document that says what it promises, and the ledger of what was spent.

Epsilon is a `fractions.Fraction` here, exactly the decimal that was typed.
"""
