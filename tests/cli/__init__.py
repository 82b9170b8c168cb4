"""The command line: in process with typer's runner, and as real processes."""
