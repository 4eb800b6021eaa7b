"""Inputs, and what is computed of them, that the cases of several exercises share."""
