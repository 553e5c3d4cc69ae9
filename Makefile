# purgefs. `make help` lists the targets.

SWIFT  ?= swift
PREFIX ?= /usr/local
DESTDIR ?=

# Install folders, including the ones for systemd and mount(8). A distribution sets PREFIX=/usr, and ZSHDIR and FISHDIR to
# the folders that it uses for packages.
BINDIR  = $(PREFIX)/bin
SBINDIR = $(PREFIX)/sbin
UNITDIR = $(PREFIX)/lib/systemd/system
USERUNITDIR = $(PREFIX)/lib/systemd/user
DOCDIR  = $(PREFIX)/share/doc/purgefs
DATADIR = $(PREFIX)/share/purgefs
MANDIR  = $(PREFIX)/share/man
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR  = $(PREFIX)/share/zsh/site-functions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d
# All installed files and folders, for uninstall. Each folder belongs to purgefs alone.
INSTALLED_FILES = $(BINDIR)/purgefs $(SBINDIR)/mount.purgefs $(UNITDIR)/purgefs@.service $(USERUNITDIR)/purgefs@.service \
	$(MANDIR)/man1/purgefs.1 $(MANDIR)/man8/mount.purgefs.8 \
	$(BASHDIR)/purgefs $(ZSHDIR)/_purgefs $(FISHDIR)/purgefs.fish
INSTALLED_FOLDERS = $(DOCDIR) $(DATADIR)

# Swift's own libraries are linked statically, so the binary runs without Swift; libfuse3, libsqlite3 and libarchive stay
# shared.
# Rules, tree and I/O are separate targets, and a write crosses their borders a dozen times, so the compiler may inline across
# them. Exclusivity checks would cost time at each access to a node. All accesses happen under one lock, and `make test` runs
# the same code with the checks.
RELEASE_FLAGS = -c release --static-swift-stdlib --product purgefs \
	-Xswiftc -cross-module-optimization -Xswiftc -enforce-exclusivity=unchecked
# Links the compiler's own libraries statically too, except for the tarball: Debian 12's static libraries need its newer glibc.
STATIC_RUNTIME = --pkg-config-path .build/static-runtime
# STRICT=1 (make ci) turns warnings into errors, and allows only the imports that Package.swift names.
STRICT ?=
STRICT_FLAGS = $(if $(STRICT),-Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error)

BINARY  = $(CURDIR)/.build/release/purgefs
DEPS    = mount-scripts/install-deps
SOURCES = Sources Tests Package.swift

# Mount tests start this binary.
export PURGEFS_BINARY = $(BINARY)

.DEFAULT_GOAL := help
.PHONY: help demo test test-build app-build long ring-tests snippets app-tests distro-test suites trials build bench picture ci check lint house format install uninstall deb tarball package-test clean

help: ## this list
	@echo 'purgefs: a simulated iOS app container as a FUSE file system'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'Settings: PREFIX, DESTDIR (install); FILTER=SuiteOrTest, PURGEFS_TEST_SCALE=1 (test);'
	@echo 'SUITES="fio postgres" (suites); BENCH="purge latency", PURGEFS_BENCH_DIR=DIR (bench).'
	@echo 'A page each: docs/TESTING.md, python3 Tests/Suites --help, Tests/Benchmarks/bench --help.'

demo: build ## fill a 64 MiB container with a real program and see what is purged
	@SWIFT=$(SWIFT) $(DEPS) demo
	@PURGEFS=$(BINARY) mount-scripts/demo

build: ## build .build/release/purgefs (installs what is missing, on Debian and Ubuntu)
	@SWIFT=$(SWIFT) $(DEPS) build
	@mount-scripts/static-runtime .build/static-runtime
	$(SWIFT) build $(RELEASE_FLAGS) $(STRICT_FLAGS) $(STATIC_RUNTIME)

# A factor for the counts of long tests; `make long` runs them in full.
test app-tests: export PURGEFS_TEST_SCALE ?= 0.1

test: build test-build ## all tests, with real mounts, at small counts (FILTER=... for some)
	@SWIFT=$(SWIFT) $(DEPS) test
ifdef FILTER
	$(SWIFT) test --skip-build $(STRICT_FLAGS) --filter '$(FILTER)'
else
	SWIFT=$(SWIFT) python3 -B Tests/Runner $(BESIDE_TESTS)
endif
# Targets that run beside the tests. With $(MAKE) in the recipe, `make -n` would run it.
BESIDE ?=
BESIDE_TESTS = $(if $(BESIDE),--beside '$(MAKE) --no-print-directory $(BESIDE)')

test-build:
	@SWIFT=$(SWIFT) $(DEPS) build
	$(SWIFT) build --build-tests $(STRICT_FLAGS)

long: ## everything at full counts, half an hour; before a release and after changes of locks or the ledger
	@SWIFT=$(SWIFT) $(DEPS) long
	PURGEFS_TEST_SCALE=1 $(MAKE) test snippets app-tests
	$(MAKE) ring-tests

ring-tests: build test-build ## the mount tests at small counts, with requests by io_uring (as root; Linux 6.14 and newer)
	PURGEFS_TEST_SCALE=0.1 SWIFT=$(SWIFT) python3 -B Tests/Runner --transport ring --only MountTests

# Apps look for "/tmp/" in a path. So the container is neither in the usual place, nor beside a clone that is itself below a
# tmp.
SNIPPETS_DIR = $(if $(findstring /tmp/,$(CURDIR)/),/dev/shm,$(CURDIR)/.build)
app-build: build
	$(SWIFT) build --package-path Tests/AppSnippets --scratch-path .build/snippets $(STRICT_FLAGS)
	$(SWIFT) build --build-tests $(APP_TESTS) $(STRICT_FLAGS)

snippets: app-build ## build apps written for iOS with ContainerStorage, and run them in a container
	@for app in AppSnippets ByImport PluginClient LibraryClient; do \
		TMPDIR=$(SNIPPETS_DIR) $(BINARY) run --quiet --total 40M --others 10M -- .build/snippets/debug/$$app || exit; done

APP_TESTS = --package-path Tests/AppTests --scratch-path .build/app-tests
app-tests: app-build ## build tests of an app with ContainerTesting, run them, and look at what they leave behind
	@PURGEFS=$(BINARY) Tests/AppTests/check $(SWIFT) test --skip-build --ignore-lock $(APP_TESTS)

distro-test: ## the mount tests on Debian 13 with its libfuse 3.17, in a root of its own (as root; FILTER=...)
	@exec env SWIFT=$(SWIFT) FILTER='$(FILTER)' mount-scripts/distro-test

check: lint house ## quick: format, the shape of the source, and the tests that need no mount
	$(SWIFT) test $(STRICT_FLAGS) --skip MountTests

# The quickest checks come first, so that a failure shows early. The last part has all tests.
CI_PARTS = lint house build test-build app-build test
ci: ## what CI runs: format, shape of the source, warnings as errors, all tests; prints the time of each part
	@rm -f .build/ci-times
	@for part in $(CI_PARTS); do mount-scripts/timed $$part $(MAKE) --no-print-directory $$part STRICT=1 BESIDE='snippets app-tests' || exit; done
	@echo && cat .build/ci-times

lint: ## show what `make format` would change
	@SWIFT=$(SWIFT) $(DEPS) build
	$(SWIFT) format lint -s -r $(SOURCES)

house: ## what docs/ARCHITECTURE.md says about the source: imports, sizes, proofs, references
	@SWIFT=$(SWIFT) $(DEPS) build
	@for tool in House Runner; do python3 -B -m unittest discover -q -s Tests/$$tool -t Tests/$$tool || exit; done
	@python3 -B Tests/House

format: ## format the Swift sources in place
	@SWIFT=$(SWIFT) $(DEPS) build
	$(SWIFT) format -i -r $(SOURCES)

suites: build ## third-party suites, on a mount and in an ordinary directory (SUITES="fio postgres" for some; as root)
	@SWIFT=$(SWIFT) $(DEPS) suites
	@PURGEFS=$(BINARY) python3 Tests/Suites $(SUITES)

trials: build ## programs of others in a container that is full, purged or locked (TRIALS="git ccache" for some; as root)
	@SWIFT=$(SWIFT) $(DEPS) trials
	@PURGEFS=$(BINARY) Tests/Trials/trials $(TRIALS)

bench: build ## compare with the underlying directory, tmpfs and bindfs (BENCH="files purge latency mount start scale memory cpu journal calls")
	@SWIFT=$(SWIFT) $(DEPS) bench
	@PURGEFS=$(BINARY) Tests/Benchmarks/bench $(BENCH)

picture: build ## make docs/picture.svg anew, the terminal in README
	@PURGEFS=$(BINARY) mount-scripts/picture

# Installs the output of `make build`, so that only `make build` needs Swift (`sudo make install`).
install: ## install into PREFIX (/usr/local), after `make build`
	@test -x $(BINARY) || { echo 'make install: there is no $(BINARY); run `make build` first.' >&2; exit 1; }
	install -D -m 755 $(BINARY) '$(DESTDIR)$(BINDIR)/purgefs'
	install -D -m 755 mount-scripts/mount.purgefs '$(DESTDIR)$(SBINDIR)/mount.purgefs'
	install -d $(foreach dir,$(UNITDIR) $(USERUNITDIR) $(DOCDIR)/docs $(DATADIR) $(MANDIR)/man1 $(MANDIR)/man8 \
		$(BASHDIR) $(ZSHDIR) $(FISHDIR),'$(DESTDIR)$(dir)')
	install -m 644 $(addprefix mount-scripts/,purgefs_pytest.py pyproject.toml setup.py container.sh) '$(DESTDIR)$(DATADIR)'
	sed 's|@BINDIR@|$(BINDIR)|g; s|@DOCDIR@|$(DOCDIR)|g' mount-scripts/purgefs@.service > '$(DESTDIR)$(UNITDIR)/purgefs@.service'
	sed -e '/^After=/d; /^StateDirectory=/d; /^# The usual folder/d; 1s|/etc|~/.config|; s|/etc/purgefs|%E/purgefs|' \
		-e 's|/var/lib/purgefs|/home/me/purgefs|; s|/srv|/home/me|; s|systemctl|systemctl --user|; s| --allow-other||' \
		-e 's|multi-user|default|' \
		'$(DESTDIR)$(UNITDIR)/purgefs@.service' > '$(DESTDIR)$(USERUNITDIR)/purgefs@.service'
	$(BINARY) generate man > '$(DESTDIR)$(MANDIR)/man1/purgefs.1'
	$(BINARY) generate man8 > '$(DESTDIR)$(MANDIR)/man8/mount.purgefs.8'
	$(BINARY) generate bash > '$(DESTDIR)$(BASHDIR)/purgefs'
	$(BINARY) generate zsh > '$(DESTDIR)$(ZSHDIR)/_purgefs'
	$(BINARY) generate fish > '$(DESTDIR)$(FISHDIR)/purgefs.fish'
	chmod 644 $(foreach file,$(wordlist 3,99,$(INSTALLED_FILES)),'$(DESTDIR)$(file)')
	install -m 644 README.md LICENSE CHANGELOG.md '$(DESTDIR)$(DOCDIR)'
	install -m 644 docs/*.md docs/picture.svg '$(DESTDIR)$(DOCDIR)/docs'
	@case '$(PREFIX)' in /usr|/|'') ;; *) \
		echo 'mount(8) looks for its helpers in /sbin only. For `mount -t purgefs` and /etc/fstab:'; \
		echo '    ln -s $(SBINDIR)/mount.purgefs /sbin/mount.purgefs' ;; esac

uninstall: ## remove what install has installed, with the same PREFIX and DESTDIR
	rm -f $(foreach file,$(INSTALLED_FILES),'$(DESTDIR)$(file)')
	rm -rf $(foreach dir,$(INSTALLED_FOLDERS),'$(DESTDIR)$(dir)')

deb: build ## .build/purgefs_VERSION_ARCH.deb, for this release of Debian or Ubuntu
	@SWIFT=$(SWIFT) $(DEPS) package
	@BINARY=$(BINARY) mount-scripts/package deb

# Builds with other libraries, which repeats only the link step, and then restores the usual build.
tarball: build ## .build/purgefs-VERSION-linux-ARCH.tar.gz, which needs glibc 2.35 and libstdc++ alone
	@SWIFT=$(SWIFT) $(DEPS) package
	@mount-scripts/package static-libraries .build/static-libraries
	$(SWIFT) build $(RELEASE_FLAGS) $(STRICT_FLAGS) --pkg-config-path .build/static-libraries
	@BINARY=$(BINARY) mount-scripts/package tarball
	$(SWIFT) build $(RELEASE_FLAGS) $(STRICT_FLAGS) $(STATIC_RUNTIME)

package-test: deb tarball ## install the packages in roots of Debian 12 and 13, use them, and remove them (as root)
	@exec mount-scripts/package-test

clean: ## remove .build
	rm -rf .build
