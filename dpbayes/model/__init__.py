"""What is counted: networks and their cells, tables of records, their counts and coefficients, and exact queries."""
