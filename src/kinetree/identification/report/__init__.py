"""Reports of an identification: errors of torques, in words and pictures."""
