"""Tests of volumes."""
