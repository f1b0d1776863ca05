"""What the parts of a robot must satisfy."""
