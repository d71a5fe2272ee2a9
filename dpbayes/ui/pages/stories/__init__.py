"""Stories that teach: files of steps, walked through in a banner over the pages, with questions to guess at."""
