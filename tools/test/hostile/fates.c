// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What must become of a packet that reaches the device, told from its bytes
 * (IBA volume 1, 9.2 and 9.6; Documentation/counters.md for what is counted).
 * Written from the specification, not from the driver.
 */
#include <string.h>

#include "flood.h"

#define DETH	8
#define RETH	16
#define AETH	4
#define IMM	4
#define ATOMIC	28
#define FETH	4
#define SETH	4
#define NO_PAYLOAD 0x80

#define GSI_QPN		1
#define MULTICAST_QPN	0xffffff

const char *const fate_names[FATES] = {
	"nowhere", "no_qp", "refused", "icrc", "pkey", "received",
};

/* Bytes behind the BTH, plus one to tell what is there from what is not */
#define HEADERS(n) ((n) + 1)
#define BARE(n) (HEADERS(n) | NO_PAYLOAD)

static const uint8_t forms[256] = {
	/* RC: sends, writes, reads, acknowledgments, atomics */
	[0x00 ... 0x02] = HEADERS(0), [0x03] = HEADERS(IMM),
	[0x04] = HEADERS(0), [0x05] = HEADERS(IMM),
	[0x06] = HEADERS(RETH), [0x07 ... 0x08] = HEADERS(0),
	[0x09] = HEADERS(IMM), [0x0a] = HEADERS(RETH),
	[0x0b] = HEADERS(RETH + IMM), [0x0c] = BARE(RETH),
	[0x0d] = HEADERS(AETH), [0x0e] = HEADERS(0),
	[0x0f ... 0x10] = HEADERS(AETH), [0x11] = BARE(AETH),
	[0x12] = BARE(AETH + 8), [0x13 ... 0x14] = BARE(ATOMIC),
	[0x16 ... 0x17] = HEADERS(IMM),
	[0x1c] = BARE(FETH + RETH), [0x1d] = HEADERS(RETH),
	/* UC */
	[0x20 ... 0x22] = HEADERS(0), [0x23] = HEADERS(IMM),
	[0x24] = HEADERS(0), [0x25] = HEADERS(IMM),
	[0x26] = HEADERS(RETH), [0x27 ... 0x28] = HEADERS(0),
	[0x29] = HEADERS(IMM), [0x2a] = HEADERS(RETH),
	[0x2b] = HEADERS(RETH + IMM),
	/* UD */
	[0x64] = HEADERS(DETH), [0x65] = HEADERS(DETH + IMM),
	/* CNP */
	[0x81] = HEADERS(0),
	/* Selective acknowledgment, of ours: Documentation/reliability.md */
	[0xe1] = HEADERS(SETH),
	/* Probe of a path and its answer, likewise */
	[0xe2 ... 0xe3] = BARE(0),
};

uint32_t opcode_headers(uint8_t opcode)
{
	uint8_t form = forms[opcode];

	return form ? BTH_SIZE + (form & ~NO_PAYLOAD) - 1 : 0;
}

bool opcode_has_payload(uint8_t opcode)
{
	return !(forms[opcode] & NO_PAYLOAD);
}

static bool length_fits(const uint8_t *packet, uint32_t size)
{
	uint32_t pad = packet[1] >> 4 & 3;
	uint32_t overhead = opcode_headers(packet[0]) + pad + ICRC_SIZE;
	uint32_t payload = size - overhead;

	if (size < overhead)
		return false;
	if (!opcode_has_payload(packet[0]))
		return !payload && !pad;
	return (-payload & 3) == pad;
}

enum fate packet_fate(const uint8_t *packet, uint32_t size, uint32_t qpn,
		      bool icrc_right)
{
	uint16_t pkey = packet[2] << 8 | packet[3];

	if (qpn == MULTICAST_QPN)
		return FATE_NOWHERE;
	if (qpn != GSI_QPN && !is_victim(qpn))
		return FATE_NO_QP;
	if (size < BTH_SIZE + ICRC_SIZE || packet[1] & 0xf ||
	    !opcode_headers(packet[0]) || !length_fits(packet, size))
		return FATE_REFUSED;
	if (!icrc_right)
		return FATE_ICRC;
	if ((pkey & 0x7fff) != 0x7fff)
		return FATE_PKEY;
	return FATE_RECEIVED;
}
