"""From a definition to a compiled call, for one robot and one set of options."""
