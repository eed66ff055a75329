"""Runs `python -m callwright` as `callwright`, where the script is not on the path."""

from callwright.flows.cli import main

if __name__ == "__main__":
    main()
