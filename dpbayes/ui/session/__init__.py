"""What a person has chosen, and the values that follow from it."""
