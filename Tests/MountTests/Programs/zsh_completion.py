"""zsh_completion.py FILE LINE...: prints zsh's completions at the end of each line, with FILE (_NAME) as its completion.

An interactive zsh gets each line and a Tab. A function replaces its builtin compadd, which receives all matches, and also
writes them to a file. Prints a line for each LINE, with the matches separated by semicolons.
"""
import os
import pty
import select
import sys
import tempfile
import time

SETUP = r"""
PS1= PS2= RPS1=
bindkey '^I' complete-word
bindkey '^U' kill-whole-line
LISTMAX=10000
fpath=('{folder}' $fpath)
autoload -Uz compinit
compinit -u -D
zstyle ':completion:*' verbose no
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a found
    builtin compadd -A found "$@"
    ((! $#found)) || print -rl -- $found >>'{matches}'
    builtin compadd "$@"
}
comppostfuncs=(finished)
finished() {
    print -r -- END-OF-MATCHES >>'{matches}'
    comppostfuncs=(finished) # zsh forgets them after one completion
}
print ready >'{matches}'
"""


def main():
    file, lines = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        matches, setup = scratch + "/matches", scratch + "/setup"
        with open(setup, "w") as text:
            text.write(SETUP.replace("{folder}", os.path.dirname(file)).replace("{matches}", matches))
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ.update(TERM="vt100", LC_ALL="C")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        os.write(terminal, f". {setup}\n".encode())
        wait(terminal, matches, "ready\n")
        for line in lines:
            os.truncate(matches, 0)
            os.write(terminal, line.encode() + b"\t")
            text = wait(terminal, matches, "END-OF-MATCHES\n")
            words = text.splitlines()[:-1]
            print(";".join(dict.fromkeys(word.strip() for word in words)))
            os.write(terminal, b"\x15")
        os.write(terminal, b"exit\n")
        os.close(terminal)
        os.waitpid(pid, 0)


def wait(terminal, path, end):
    """Reads the terminal's output, so that zsh never blocks, until the file ends with `end`."""
    shown, deadline = b"", time.monotonic() + 30
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.02)[0]:
            shown += os.read(terminal, 65536)
        if os.path.exists(path):
            with open(path) as file:
                text = file.read()
            if text.endswith(end):
                return text
    sys.exit(f"zsh has not answered; the terminal shows\n{shown.decode(errors='replace')}")


main()
