"""Checked mode: launches that are watched, so that mistakes show and traffic is counted."""
