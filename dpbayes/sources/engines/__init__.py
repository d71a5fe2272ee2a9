"""Tables that do not fit memory: files, databases and clusters, of which a scan brings the counts back."""
