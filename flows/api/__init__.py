"""The Python API that `import callwright` offers; the command line uses it too."""
