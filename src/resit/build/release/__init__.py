"""A new test set as others get it: a folder that other tools read, byte for byte the same when it is made again."""
