// The verbs.
