"""Human review: turns samples into Label Studio tasks and annotations into reviews."""
