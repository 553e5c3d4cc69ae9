"""What the rules let pass: rule -> name -> why. An exception that is not needed any more is a finding itself."""

EXCEPTIONS = {
    "types": {
        "System": "a name space: a wrapper for each system call, and no state",
        "ReferenceLedger": "the whole contract once more, worked out the plainest way in one value",
    },
    "functions": {
        "ControlFile.row": "the table of control files",
    },
    "callbacks": {},
    "imports": {},
    "proofs": {},
    "citations": {},
    "references": {},
}

# Until the split of Volume lands: so many findings of each rule are listed, but do not fail the check.
PENDING = {"types": 2, "functions": 4, "callbacks": 12, "proofs": 30, "citations": 90}
