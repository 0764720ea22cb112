"""The command ``priompt``: a file for each group of commands, loaded when it is asked for."""
