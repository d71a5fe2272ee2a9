"""What pages are made of: controls, charts, work in steps, the graph editor."""
