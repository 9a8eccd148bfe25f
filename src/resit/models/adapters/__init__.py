"""One file a library: each makes a Model of a name, and loads its library only then."""
