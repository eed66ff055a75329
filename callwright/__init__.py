"""Function-calling datasets that people trust: built, proved, reviewed, frozen and evaluated in one pipeline."""
