"""What people decide: samples become Label Studio tasks, annotations become reviews."""
