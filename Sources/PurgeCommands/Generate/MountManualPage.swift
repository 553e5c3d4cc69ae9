import PurgeCommandLine

/// mount.purgefs(8), for mount(8) and /etc/fstab.
struct MountManualPage {
    var text: String {
        var lines = Roff.header("MOUNT.PURGEFS", 8, "System Administration")
        lines += [".SH NAME", #"mount.purgefs \- mount a purgefs store as a container"#, ".SH SYNOPSIS"]
        lines += [".SY \"mount \\-t purgefs\"", Roff.synopsis("STORE MOUNTPOINT [-o OPTIONS]"), ".YS"]
        lines += [".SH DESCRIPTION"] + Roff.paragraphs(Self.description)
        lines += [".SH OPTIONS", Roff.prose("OPTIONS are separated by commas. These are for purgefs:")]
        lines += Roff.table(Self.options, name: Roff.synopsis)
        lines += [".PP"] + Roff.paragraphs(Self.others)
        lines += [".SH EXIT STATUS"] + Roff.table(Self.exitStatus)
        lines += [".SH FILES"] + Roff.table([.init("/sbin/mount.purgefs", "where mount(8) looks for this program")])
        lines += [".SH EXAMPLES", "Mount a store:"]
        lines += Roff.commands(["mount -t purgefs /var/lib/app.store /mnt/app -o total=64G,others=40G"])
        lines += [".PP", "A line of /etc/fstab:"]
        lines += Roff.commands(["/var/lib/app.store  /mnt/app  purgefs  total=64G,others=40G,nofail  0  0"])
        lines += [".SH SEE ALSO", ".BR purgefs (1),", ".BR mount (8),", ".BR fstab (5)"]
        return lines.joined(separator: "\n")
    }

    private static let description = [
        "mount(8) runs mount.purgefs for the type purgefs. It runs `purgefs mount` with these options; purgefs(1) explains "
            + "stores, containers and the simulated device. umount(8) and `purgefs unmount` unmount the container."
    ]

    private static let options = OptionSpec.mounting.filter { !$0.isShort }.map { option in
        let words = String(option.synopsis.dropFirst(2))
        return HelpSection.Line(
            option.completion == nil ? "allow_other" : words.replacing(" ", with: "="), option.help)
    }

    private static let others = [
        "ro, noexec, nosuid, nodev and the options for access times are passed on to the mount. Options that only "
            + "concern mount(8) and systemd (auto, noauto, nofail, user, x-...) are dropped. remount is refused.",
        "Devices and setuid programs work in the mount unless nodev and nosuid are given, as in any mount of root.",
    ]

    private static let exitStatus: [HelpSection.Line] = [
        .init("0", "mounted"),
        .init("1", "wrong usage"),
        .init("2", "purgefs is not installed"),
        .init("32", "the mount failed; the message says why"),
    ]
}
