"""The making of a result: its job, the code that it runs, and the record of what it made."""
