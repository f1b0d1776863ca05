"""MJCF, MuJoCo's robot files, with the meaning that MuJoCo's own compiler gives them."""
