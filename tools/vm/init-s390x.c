// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Process 1 of the s390x that tools/vm/s390x starts: loads the module, shows what its
 * KUnit suites say, and ends the machine.
 */
#include <fcntl.h>
#include <glob.h>
#include <linux/reboot.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CONSOLE_OFF 6 /* of klogctl() */
#define RESULTS "/debug/kunit/*/results"

static void end(const char *what)
{
	if (what)
		perror(what);
	/* The console prints behind our back. */
	sleep(1);
	reboot(LINUX_REBOOT_CMD_POWER_OFF);
}

static void set_loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		end("lo");
	close(fd);
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		end(path);
	close(fd);
}

static void show(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];

	if (!file)
		end(path);
	while (fgets(line, sizeof(line), file))
		fputs(line, stdout);
	fclose(file);
}

int main(void)
{
	glob_t results;
	size_t i;

	if (mount("debugfs", "/debug", "debugfs", 0, NULL))
		end("debugfs");
	set_loopback_up();
	load("/roce.ko");
	/* Nothing of the log between these lines */
	klogctl(CONSOLE_OFF, NULL, 0);
	if (glob(RESULTS, 0, NULL, &results))
		end(RESULTS);
	for (i = 0; i < results.gl_pathc; i++)
		show(results.gl_pathv[i]);
	puts("The suites have ended.");
	end(NULL);
	return 1;
}
