"""What is counted: networks and their cells, tables of records, counts, coefficients, and queries by exact inference."""
