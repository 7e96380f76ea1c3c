/** How long an Opus packet is, from its first bytes (RFC 6716 section 3.1). */
/** Samples at 48 kHz; 0 where the packet is empty. */
export function opusSamples(packet) {
    const toc = packet[0];
    if (toc === undefined)
        return 0;
    const code = toc & 3;
    const frames = code === 0 ? 1 : code === 3 ? (packet[1] ?? 0) & 63 : 2;
    return frames * frameSamples(toc >> 3);
}
/** By the table of RFC 6716: SILK 10 to 60 ms, hybrid 10 or 20, CELT 2.5 to 20. */
function frameSamples(config) {
    if (config < 12)
        return [480, 960, 1920, 2880][config & 3];
    if (config < 16)
        return [480, 960][config & 1];
    return [120, 240, 480, 960][config & 3];
}
