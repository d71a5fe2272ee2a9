"""What a recipient makes of a release: all of it recomputed from the released numbers, which costs no privacy."""
