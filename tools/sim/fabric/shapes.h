/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_SHAPES_H
#define FABRIC_SHAPES_H

void shape_build(void);

#endif /* FABRIC_SHAPES_H */
