"""Tables that do not fit memory: files, databases and clusters, of which one scan brings the counts back."""
