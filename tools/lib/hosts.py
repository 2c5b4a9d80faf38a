# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
Hosts of a measurement: network namespaces of this machine, and other machines
behind ssh. A host runs commands, and has one netdev with one address.
"""
import ipaddress
import os
import re
import shlex
import subprocess
import time

SSH = shlex.split(os.environ.get("ROCE_BENCH_SSH", "ssh -o BatchMode=yes"))
SSH_LIMIT = 900		# seconds, after which a command on another machine is ended
PATIENCE = 300		# seconds until what takes a moment is there

# What decides how trains get onto and off the wire
FEATURES = (
    "rx-checksumming", "tx-checksumming", "scatter-gather",
    "tcp-segmentation-offload", "tx-tcp-mangleid-segmentation",
    "generic-segmentation-offload", "tx-udp-segmentation",
    "generic-receive-offload", "rx-gro-hw", "rx-gro-list",
    "rx-udp-gro-forwarding", "large-receive-offload", "receive-hashing",
)

# NETDEV: "NAME LIST-OF-CPUS" of each interrupt. For virtio the interrupts
# belong to the device above the netdev's.
INTERRUPTS = r"""
device=$(readlink -f "/sys/class/net/$1/device") || exit 0
for irq in $(ls "$device/msi_irqs" "$device/../msi_irqs" 2>/dev/null | grep -x '[0-9]*'); do
    cpus=$(cat "/proc/irq/$irq/effective_affinity_list" 2>/dev/null) || continue
    name=$(sed -n "s/^ *$irq:.* //p" /proc/interrupts)
    [ -z "$name" ] || echo "$name $cpus"
done"""


class Failed(Exception):
    """A command, or a measurement, that came to nothing."""


def run(*command, **options):
    """What a command of this machine writes; Failed if it fails."""
    try:
        result = subprocess.run(command, capture_output=True, text=True,
                                check=False, **options)
    except OSError as why:
        raise Failed(f"{command[0]}: {why.strerror}") from None
    if result.returncode:
        raise Failed(f"{shlex.join(command)}: {result.stdout}{result.stderr}".strip())
    return result.stdout


class Host:
    """cpu: the CPU that its commands stay on, None for any"""

    def __init__(self, name, netdev=None, address=None, cpu=None):
        self.name, self.netdev, self.address, self.cpu = name, netdev, address, cpu

    def pinned(self, command):
        return command if self.cpu is None else ["taskset", "-c", str(self.cpu), *command]

    def command(self, *command):
        """The command of this machine that runs a command of the host."""
        raise NotImplementedError

    def run(self, *command):
        return run(*self.command(*command))

    def shell(self, script, *arguments):
        return self.run("sh", "-c", script, "sh", *arguments)

    def start(self, *command):
        return subprocess.Popen(self.command(*command), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)

    def is_listening(self, port):
        return bool(self.run("ss", "-Htln", f"sport = :{port}"))

    def wait_listening(self, port, process):
        """Until the process, a server, has opened its TCP port."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if process.poll() is not None:
                raise Failed("the server ended: " + process.stdout.read())
            if self.is_listening(port):
                return
            time.sleep(0.02)
        raise Failed("the server does not listen")

    def wait_closed(self, port):
        """Until the server of a measurement that failed has ended."""
        end = time.monotonic() + PATIENCE
        while self.is_listening(port):
            if time.monotonic() > end:
                raise Failed(f"{self.name}: a program listens on TCP port {port}")
            time.sleep(1)

    def gid_index(self, device, address):
        """The index of the RoCE v2 GID that is an address. It takes a moment."""
        address = ipaddress.ip_address(address)
        if address.version == 4:
            address = ipaddress.ip_address(f"::ffff:{address}")
        script = """
            cd "/sys/class/infiniband/$1/ports/1" || exit
            for file in $(grep -rslx "$2" gids); do
                ! grep -qsx "RoCE v2" "gid_attrs/types/${file#*/}" || echo "${file#*/}"
            done"""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.shell(script, device, address.packed.hex(":", 2)).split()
            if found:
                return min(found, key=int)
            time.sleep(0.1)
        raise Failed(f"{self.name}: {device} has no RoCE v2 GID of {address}")

    def counters(self, device):
        """Of a device, which belongs to the namespace, or to the machine."""
        grep = ["grep", "-r", ".", f"/sys/class/infiniband/{device}/ports/1/hw_counters"]
        for command in (self.command(*grep), grep):
            output = subprocess.run(command, capture_output=True, text=True,
                                    check=False).stdout
            if output:
                return {os.path.basename(name): int(value) for name, value in
                        (line.split(":") for line in output.split())}
        raise Failed(f"{device} counts nothing")

    def busy_seconds(self):
        """CPU time that its machine has not been idle."""
        times = [int(t) for t in self.run("head", "-1", "/proc/stat").split()[1:9]]
        return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")

    def describe(self):
        """Kernel, CPU, and the netdev with its driver, features and interrupts."""
        def ask(script, *arguments):
            return self.shell(script + " || true", *arguments).strip()

        text = {
            "name": self.name,
            "kernel": ask("uname -r"),
            "cpu": ask("sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1"),
            "cpus": int(ask("getconf _NPROCESSORS_ONLN")),
            "virtualization": ask("systemd-detect-virt --vm 2>/dev/null"),
            "netdev": self.netdev,
        }
        if not self.netdev:
            return text
        driver = ask('ethtool -i "$1" 2>/dev/null', self.netdev)
        features = dict(re.findall(r"^\s*([\w-]+): (on|off)",
                                   ask('ethtool -k "$1" 2>/dev/null', self.netdev),
                                   re.MULTILINE))
        text["mtu"] = int(ask('cat "/sys/class/net/$1/mtu"', self.netdev))
        text["driver"] = " ".join(re.findall(r"^(?:driver|version|firmware-version): (\S+)",
                                             driver, re.MULTILINE)) or "unknown"
        for state in ("on", "off"):
            text["features_" + state] = [f for f in FEATURES if features.get(f) == state]
        text["interrupts"] = ask(INTERRUPTS, self.netdev).splitlines()
        text["rps"] = ask('cat /sys/class/net/"$1"/queues/rx-*/rps_cpus 2>/dev/null',
                          self.netdev).split()
        return text


class Here(Host):
    """This machine itself."""

    def __init__(self):
        super().__init__("this machine")

    def command(self, *command):
        return self.pinned(command)


class Namespace(Host):
    """A network namespace of this machine."""

    def command(self, *command):
        return ["ip", "netns", "exec", self.name, *self.pinned(command)]


class Machine(Host):
    """Another machine. The command ends there, too, if ours is killed: later."""

    def command(self, *command):
        return [*SSH, self.name,
                shlex.join(["timeout", str(SSH_LIMIT), *self.pinned(command)])]


def batch(program, namespace, lines):
    """ip or tc, with these commands."""
    run(program, "-n", namespace, "-batch", "-", input="\n".join(lines) + "\n")


def add_namespace(name):
    run("ip", "netns", "add", name)
    batch("ip", name, ["link set lo up"])


def add_veth(end, peer):
    """Each is a namespace, a netdev, and what ip is told of it."""
    (namespace, netdev, *options), (there, peer_netdev, *peer_options) = end, peer
    run("ip", "-n", namespace, "link", "add", netdev, *options, "type", "veth",
        "peer", "name", peer_netdev, *peer_options, "netns", there)


def join(left, right):
    """Creates two namespaces, and the veth pair that is their netdevs."""
    for host in (left, right):
        add_namespace(host.name)
    add_veth((left.name, left.netdev), (right.name, right.netdev))
