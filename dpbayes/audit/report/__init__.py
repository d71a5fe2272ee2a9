"""What an audit finds: in numbers, in words, and as a picture."""
