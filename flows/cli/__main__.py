"""`python -m flows.cli` is `callwright`, where the script is not on the path."""

from flows.cli.main import main

if __name__ == "__main__":
    main()
