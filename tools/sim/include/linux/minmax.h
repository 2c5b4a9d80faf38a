/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SIM_LINUX_MINMAX_H
#define SIM_LINUX_MINMAX_H

#define min(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define clamp(value, low, high) \
	({ typeof(value) _low = (low), _high = (high); min(max(value, _low), _high); })

#endif /* SIM_LINUX_MINMAX_H */
