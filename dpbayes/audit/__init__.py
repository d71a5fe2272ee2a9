"""The auditor: what a mechanism loses, found without trusting what it says about itself."""
