"""The language's surface: the tree, the parser, the formatter. Nothing here knows what a name means."""
