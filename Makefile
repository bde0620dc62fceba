# SPDX-License-Identifier: Apache-2.0
# One Makefile, no recursion. `make help` lists the targets.
VERSION    = 0.1
prefix    ?= /usr/local
bindir    ?= $(prefix)/bin
mandir    ?= $(prefix)/share/man
O         ?= build

CC         = cc
CFLAGS    ?= -O2 -g
WARN       = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
             -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2
PKG_CONFIG ?= pkg-config
PKGS       = libelf jansson libzstd libtraceevent
TEST_PKGS  = cmocka
# Debian ships these two without a .pc file.
IPT_LIBS  ?= -lipt
ZYDIS_LIBS ?= -lZydis

# DEV=1 makes warnings errors; never in a tarball.
ifeq ($(DEV),1)
WARN      += -Werror
endif
# SAN=address,undefined or COV=1 builds in a tree of its own, beside an O of the command
# line, too: objects never mix.
comma     := ,
ifneq ($(SAN),)
override O := $(O)-$(subst $(comma),-,$(SAN))
san        = -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ifeq ($(COV),1)
override O := $(O)-cov
san       += --coverage
endif

# V=1 shows the commands.
ifeq ($(V),1)
say        =
else
say        = @echo "  $(1)	$(patsubst $(O)/%,%,$@)";
endif

pc         = $(if $(1),$(shell $(PKG_CONFIG) $(2) $(1) 2>/dev/null))
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -DAUXREC_VERSION='"$(VERSION)"' -I. $(WARN) \
             $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(san)
PKG_CFLAGS := $(call pc,$(PKGS),--cflags)
LIBS       = $(call pc,$(PKGS),--libs) $(IPT_LIBS) $(ZYDIS_LIBS)

format    := $(wildcard format/*.c)
perfio    := $(wildcard perfio/*.c perfio/soft/*.c)
recorder  := $(wildcard recorder/*.c recorder/decode/*.c recorder/export/*.c)
unit      := $(wildcard tests/unit/test_*.c)
fakes     := $(filter-out $(unit),$(wildcard tests/unit/*.c))
tools     := $(wildcard tests/tools/*.c)
progs     := $(wildcard tests/prog/*.c tests/prog/*.S)
guest_tests := $(notdir $(wildcard tests/guest/g-*.sh))
man       := $(wildcard man/*.[1-8])
obj        = $(patsubst %.c,$(O)/obj/%.o,$(1))
bins      := $(patsubst tests/unit/%.c,$(O)/bin/%,$(unit))
tool_bins := $(patsubst tests/tools/%.c,$(O)/tools/%,$(tools))
prog_bins := $(patsubst tests/prog/%,$(O)/prog/%,$(basename $(progs)))
fuzz      := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
replays   := $(addprefix $(O)/replay/bin/,$(fuzz))
fuzzers   := $(addprefix $(O)/fuzz/bin/,$(fuzz))

# What the build and the tests need on Debian 12, one package a word.
BUILD_DEPS = gcc make pkg-config libelf-dev libjansson-dev libipt-dev libzydis-dev \
             libzstd-dev libtraceevent-dev
TEST_DEPS  = libcmocka-dev linux-perf mandoc shellcheck python3 procps util-linux \
             qemu-system-x86 busybox-static cpio gdb
DEPS       = $(BUILD_DEPS) $(TEST_DEPS)

.PHONY: all deps demo check unit e2e soft guest replay check-san fuzz torture layering lint \
	man bench soak install dist clean help
all: $(O)/bin/auxrec                      ## build the program

$(O)/bin/auxrec: $(call obj,$(recorder)) $(O)/libformat.a $(O)/libperfio.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(O)/libformat.a: $(call obj,$(format))
$(O)/libperfio.a: $(call obj,$(perfio))
$(O)/libfakes.a: $(call obj,$(fakes))
# All of the program but main(), for the tests.
$(O)/librecorder.a: $(call obj,$(filter-out recorder/main.c,$(recorder)))
$(O)/%.a:
	@mkdir -p $(@D)
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^
$(O)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

deps:                                     ## install what is missing (apt; sudo when not root)
	@tests/deps.sh $(DEPS)
demo: deps                                ## record a small program and show what is in the file
	@$(MAKE) --no-print-directory all $(O)/prog/spin
	@tests/demo.sh $(O)/bin/auxrec $(O)/prog/spin
check: deps                               ## all tests this machine can run
	@$(MAKE) --no-print-directory all test-parts
	@tests/check.sh $(O)
.PHONY: test-parts
test-parts: $(bins) $(tool_bins) $(prog_bins) $(replays)

unit: $(bins)                             ## cmocka tests only
	@tests/check.sh $(O) unit
e2e: all test-parts                       ## shell tests of the program only
	@tests/check.sh $(O) e2e
guest: all test-parts                     ## kernel AUX in a QEMU guest, on two kernels
	@for k in cloud61 cloud612; do \
		O=$(O) tests/guest/run.sh -k $$k $(addprefix -t ,$(guest_tests)) && \
		O=$(O) tests/guest/run.sh -k $$k -s 4 -t g-trunc.sh || exit; done
$(O)/bin/test_%: $(O)/obj/tests/unit/test_%.o $(O)/libfakes.a $(O)/librecorder.a \
		$(O)/libformat.a $(O)/libperfio.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(call pc,$(TEST_PKGS),--libs) $(LIBS)
$(O)/obj/tests/%.o: PKG_CFLAGS += $(call pc,$(TEST_PKGS),--cflags)
$(O)/tools/%: $(O)/obj/tests/tools/%.o $(O)/libformat.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
# The traced programs: built plainly, as a user's program would be. Statically where the
# dynamic linker's 100,000 instructions would only be waited for.
static_progs = branches calls daemon floats forkexec jit owncode phases pingpong ptwrites remaps \
	signals spin stopcont threadexec traps untraced ways
$(addprefix $(O)/prog/,$(static_progs)): PROG_LDFLAGS = -static
# Code below 4 GiB that calls into libraries far above it.
$(O)/prog/lowcode: PROG_LDFLAGS = -fno-builtin -fno-pie -no-pie
$(O)/prog/%: tests/prog/%.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -w -pthread $(PROG_LDFLAGS) -o $@ $<
$(O)/prog/%: tests/prog/%.S
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -o $@ $<

# The fuzz targets without a fuzzer: format/, which reads what files say, is sanitized in
# every build; the rest as the build is.
replay_san = $(if $(SAN),,-O1 -fsanitize=address,undefined -fno-sanitize-recover=all)
replay: $(replays)                        ## fuzz targets over the corpus and mutations of it
	@tests/check.sh $(O) replay
$(O)/replay/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(replay_san) -MMD -MP -c -o $@ $<
$(O)/replay/bin/%: $(O)/replay/obj/tests/fuzz/fuzz_%.o $(O)/replay/obj/tests/fuzz/replay.o \
		$(patsubst %.c,$(O)/replay/obj/%.o,$(format)) $(O)/libfakes.a $(O)/librecorder.a \
		$(O)/libperfio.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_CFLAGS) $(replay_san) $(LDFLAGS) -o $@ $^ $(LIBS)

check-san: deps                           ## the tests in a build with ASan and UBSan
	@$(MAKE) --no-print-directory SAN=address,undefined all test-parts
	@tests/check.sh $(O)-address-undefined unit replay e2e

torture: all test-parts                   ## recordings cut at every byte, perf reads each (an hour)
	@TORTURE=1 $(O)/bin/test_recover_cuts
	@d=$$(mktemp -d) && cd $$d && AUXREC=$(abspath $(O))/bin/auxrec \
		PROG=$(abspath $(O))/prog E2E=$(CURDIR)/tests/e2e FULL=1 \
		sh $(CURDIR)/tests/e2e/t-recover-perf.sh; s=$$?; rm -rf $$d; exit $$s

# With libFuzzer, that is clang; what it finds stays in $(O)/fuzz.
FUZZ_CC      ?= clang
FUZZ_SECONDS ?= 60
fuzz_san   = -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
fuzz_fakes = tests/unit/fake_sys.c tests/unit/flightfix.c
fuzz:                                     ## fuzz targets with libFuzzer, FUZZ_SECONDS=60 each
	@tests/deps.sh $(DEPS) clang libclang-rt-14-dev
	@$(MAKE) --no-print-directory $(fuzzers)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run.sh $(O)/fuzz
$(O)/fuzz/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(FUZZ_CC) $(ALL_CFLAGS) $(fuzz_san) -fsanitize=fuzzer-no-link -MMD -MP \
		-c -o $@ $<
$(O)/fuzz/bin/%: $(O)/fuzz/obj/tests/fuzz/fuzz_%.o \
		$(patsubst %.c,$(O)/fuzz/obj/%.o,$(format) $(perfio) \
			$(filter-out recorder/main.c,$(recorder)) $(fuzz_fakes))
	@mkdir -p $(@D)
	$(call say,LINK)$(FUZZ_CC) $(ALL_CFLAGS) $(fuzz_san) -fsanitize=fuzzer $(LDFLAGS) \
		-o $@ $^ $(LIBS)

layering:                                 ## format and perfio know nobody, one library one place
	@tests/layering.sh
lint:                                     ## slips that have bitten others: error signs, shell
	@tests/lint.sh
man:                                      ## lint the manual pages
	@mandoc -Tlint -Wwarning $(man)
bench: all test-parts                     ## side by side with perf record, ratios first
	@tests/bench/run.sh $(O)

soak: all test-parts                      ## what waiting in flight costs, beside perf (half an hour)
	@tests/bench/soak.sh $(O) $(SOAK_SECONDS)

install: all                              ## honours DESTDIR and prefix
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man5
	install -m 755 $(O)/bin/auxrec $(DESTDIR)$(bindir)/
	install -m 644 $(filter %.1,$(man)) $(DESTDIR)$(mandir)/man1/
	install -m 644 $(filter %.5,$(man)) $(DESTDIR)$(mandir)/man5/
dist:                                     ## tarball of HEAD
	@mkdir -p $(O)
	git archive --prefix=auxrec-$(VERSION)/ -o $(O)/auxrec-$(VERSION).tar.gz HEAD
clean:                                    ## remove every build tree
	rm -rf build build-*
help:                                     ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1	/p' Makefile

-include $(shell find $(O) -name '*.d' 2>/dev/null)
.SECONDARY:
