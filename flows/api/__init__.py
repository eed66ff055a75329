"""What `import callwright` offers: the one door to builds, checks, releases and evaluations, which the command line takes too."""
