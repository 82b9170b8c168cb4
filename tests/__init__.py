"""Tests: against brute force, other packages and known values."""
