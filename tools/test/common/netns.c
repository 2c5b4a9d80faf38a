// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Network namespaces by their names, as "ip netns" has them. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/mount.h>

#include "util.h"
#include "netns.h"

/* /sys belongs to the namespace that it was mounted in. */
static void remount_sys(void)
{
	if (unshare(CLONE_NEWNS) ||
	    mount("", "/", "none", MS_SLAVE | MS_REC, NULL) ||
	    umount2("/sys", MNT_DETACH) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL))
		die_errno(errno, "another /sys");
}

void netns_enter(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die_errno(errno, "namespace %s", name);
	close(fd);
	remount_sys();
}
