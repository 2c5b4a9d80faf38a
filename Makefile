# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# roce: the module is built out of tree against KDIR; Kbuild says of what.

KDIR ?= /lib/modules/$(shell uname -r)/build
# As the module's vermagic has it: "make kernelrelease" differs on Debian.
KRELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
KMAKE = $(MAKE) -C $(KDIR) M=$(CURDIR)
EXTRA = $(INSTALL_MOD_PATH)/lib/modules/$(KRELEASE)/extra
# Refuses what DKMS refuses, and says why.
CHECK = @tools/package/check-kernel "$(KRELEASE)" "$(KDIR)" "$(INSTALL_MOD_PATH)"
DEPMOD = depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KRELEASE)

all: modules

modules: $(KDIR)
	$(CHECK)
	+$(KMAKE) modules

# Installs what make has built, and builds nothing: it may run as root.
install:
	@test -e roce.ko || { echo "Nothing is built: say make first." >&2; false; }
	$(CHECK)
	+$(KMAKE) INSTALL_MOD_DIR=extra modules_install
	$(DEPMOD)

uninstall: $(KDIR)
	rm -f $(EXTRA)/roce.ko* $(EXTRA)/roce_timely.ko*
	[ ! -d $(EXTRA) ] || rmdir --ignore-fail-on-non-empty $(EXTRA)
	$(DEPMOD)

deb:
	@tools/package/build

clean: $(KDIR)
	+$(KMAKE) clean

$(KDIR):
	@echo "No kernel headers in $(KDIR)." >&2
	@echo "Install the package linux-headers-$$(uname -r), or say KDIR=FOLDER." >&2
	@false

demo:
	@tools/demo

demo-incast:
	@tools/demo_incast $(INCAST)

demo-loss:
	@tools/demo_loss $(LOSS)

demo-paths:
	@tools/demo_paths $(PATHS)

kunit:
	@tools/kunit

test:
	@tools/check gate

check:
	@tools/check all

soak:
	@tools/check soak

mutants:
	@tools/test/mutants/run

lint:
	@tools/lint

lab:
	@tools/lab/check

bench:
	@tools/bench $(BENCH)

vm:
	@tools/vm/shell

help:
	@echo 'make           build roce.ko for the kernel in KDIR (this one: $(KDIR))'
	@echo 'make install   install it there (INSTALL_MOD_PATH=DIR: below DIR)'
	@echo 'make uninstall remove it from there'
	@echo 'make deb       build the packages roce-dkms and roce-tools'
	@echo 'make clean     remove what make left in the tree'
	@echo
	@echo 'In a virtual machine; everything these need, they fetch and build themselves:'
	@echo 'make demo      two hosts, one link, RDMA between them (KERNEL=stock|debug|plain|next)'
	@echo 'make demo-incast  many senders, one slow port: DCQCN, none, rdma_rxe; draws incast.svg'
	@echo 'make demo-loss  links that lose packets: selective repeat, go-back-N, TCP; draws losses.svg'
	@echo 'make demo-paths  four ways, one slow, one that fails: one path and many; draws paths.svg'
	@echo 'make vm        a shell where two such hosts are set up (KERNEL=debug|plain|next|stock|ubuntu)'
	@echo 'make test      builds, lint, KUnit, the heart of the integration: 10 minutes; CI runs it'
	@echo 'make kunit     the KUnit suites'
	@echo 'make check     the same and all other stages, once for a tree; tools/check --help'
	@echo 'make mutants   does make test notice faults in the driver?'
	@echo 'make soak      the same and the long tests'
	@echo 'make bench     speed beside rdma_rxe and TCP, goals and reached (BENCH="--only bandwidth" ...)'
	@echo 'make lab       scenes of networks and flows with an exact clock: Documentation/laboratory.md'
	@echo 'make lint      checkpatch and shellcheck'
	@echo
	@echo 'tools/vm/run   runs any command in the machine: Documentation/testing.md'

.PHONY: all modules install uninstall deb clean demo demo-incast demo-loss demo-paths test kunit check soak mutants lint lab bench vm help
