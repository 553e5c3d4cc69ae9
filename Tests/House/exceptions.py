"""Exceptions to the rules: rule -> name -> reason. An unused exception is itself a finding."""

EXCEPTIONS = {
    "types": {
        "System": "a name space: a wrapper for each system call, and no state",
        "ReferenceLedger": "the whole contract once more, worked out in the simplest way, as one value",
        "Verb": "the table of verbs: an entry in the file of each, most of it help",
        "LiveVolume": "the fixture of the volume tests, with a method for each operation",
        "TreeRun": "a table: each random operation, on the tree and on the table of files",
        "PurgeScenario": "a table: the golden scenarios",
        "FaultyOperation": "a table: each operation of the fault sweep, with what it needs",
    },
    "functions": {
        "ControlFile.row": "the table of control files",
    },
    "callbacks": {},
    "imports": {
        "AppTests": "a package of its own, which uses the products of this one as the tests of an app do",
        "AppSnippets": "a package of its own, which uses the products of this one as an app does",
    },
    "proofs": {},
    "citations": {},
    "references": {},
    "documents": {
        "Unmanaged": "the standard library's",
        "Synchronization": "a module of Swift",
        "CapEff": "a line of /proc/PID/status",
    },
}
