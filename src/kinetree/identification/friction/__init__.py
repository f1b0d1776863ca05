"""Forms of dry friction as columns of the regressor and as curves of the velocity."""
