/** How long an Opus packet is, from its first bytes (RFC 6716 section 3.1). */
/** Samples at 48 kHz; 0 where the packet is empty. */
export declare function opusSamples(packet: Uint8Array): number;
