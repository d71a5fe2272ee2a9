"""What each page lets a person set, a file a page."""
