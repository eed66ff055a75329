"""What `import callwright` offers: the one door to the house, which the command line takes too."""
