-- SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
--
-- Shows selective acknowledgments of the roce driver, probes of paths, and the bits of the
-- agreement
-- (Documentation/reliability.md):
--
--	tshark -X lua_script:roce_sack.lua -Y roce_sack
local proto = Proto("roce_sack", "RoCE selective repeat")

local codes = { [0x3] = "OFFER", [0xa] = "ACCEPT", [0x5] = "CONFIRM" }
local field = {
	code = ProtoField.uint8("roce_sack.code", "Agreement", base.HEX, codes, 0x0f),
	psn = ProtoField.uint24("roce_sack.psn", "Expected PSN", base.DEC),
	probe = ProtoField.uint24("roce_sack.probe", "Number of the probe", base.DEC),
	version = ProtoField.uint8("roce_sack.version", "Version", base.DEC),
	lost = ProtoField.uint32("roce_sack.lost", "Lost before PSN", base.DEC),
	range = ProtoField.string("roce_sack.range", "Arrived"),
}
proto.fields = { field.code, field.psn, field.probe, field.version, field.lost, field.range }

local SACK, BTH, SETH, ICRC = 0xe1, 12, 4, 4
local probes = { [0xe2] = "probe of a path", [0xe3] = "answer to the probe of a path" }

local function psn_add(psn, offset)
	return (psn + offset) % 0x1000000
end

local function show_sack(tvb, tree, info)
	local psn = tvb(9, 3):uint()
	local offset = BTH + SETH
	local ranges = {}

	tree:add(field.psn, tvb(9, 3))
	tree:add(field.version, tvb(BTH, 1))
	tree:add(field.lost, tvb(BTH + 2, 2), psn_add(psn, tvb(BTH + 2, 2):uint()))
	while offset + 4 <= tvb:len() - ICRC do
		local first = psn_add(psn, tvb(offset, 2):uint())
		local last = psn_add(psn, tvb(offset + 2, 2):uint() - 1)

		ranges[#ranges + 1] = first .. ".." .. last
		tree:add(field.range, tvb(offset, 4), ranges[#ranges])
		offset = offset + 4
	end
	info.cols.info:set("RC SACK, expects PSN " .. psn .. ", has " ..
			   table.concat(ranges, " "))
end

local udp_payload = Field.new("udp.payload")
local udp_port = Field.new("udp.dstport")

function proto.dissector(_, info, root)
	local port, payload = udp_port(), udp_payload()
	local tvb, code, opcode, tree

	if not port or port.value ~= 4791 or not payload then
		return
	end
	tvb = payload.range:tvb()
	if tvb:len() < BTH + ICRC then
		return
	end
	opcode = tvb(0, 1):uint()
	code = tvb(8, 1):uint() % 16
	if opcode ~= SACK and not probes[opcode] and code == 0 then
		return
	end
	tree = root:add(proto, tvb())
	if code ~= 0 then
		tree:add(field.code, tvb(8, 1))
	end
	if probes[opcode] then
		tree:add(field.probe, tvb(9, 3))
		info.cols.info:set("RC " .. probes[opcode] .. " " .. tvb(9, 3):uint())
	end
	if opcode == SACK and tvb:len() >= BTH + SETH + ICRC then
		show_sack(tvb, tree, info)
	end
end

register_postdissector(proto)
