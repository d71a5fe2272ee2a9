"""What is handed over of one die: the throws of a table with one column."""
