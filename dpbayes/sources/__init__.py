"""Where networks and tables come from: files, ready ones, made-up ones, and the domains that a person declares."""
