"""What neighbouring tables lose under a law, exactly or between bounds: no mechanism is known here."""
