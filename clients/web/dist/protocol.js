/**
 * The messages of `cosystream.v1` and the header before each packet, as docs/protocol.md has them.
 *
 * Knows: shapes and numbers. Does not know: sockets, sound.
 */
import { CosystreamError } from "./errors.js";
export const SUBPROTOCOL = "cosystream.v1";
/** `pts` counts samples at this rate, whatever the codec. */
export const PTS_RATE = 48_000;
export const HEADER_BYTES = 16;
const AUDIO_KIND = 0x11;
/** Throws `bad_message` where it is not an audio message of this version. */
export function parseAudio(message) {
    const view = new DataView(message);
    if (view.byteLength <= HEADER_BYTES || view.getUint8(0) !== AUDIO_KIND) {
        throw new CosystreamError("bad_message", `a binary message of ${view.byteLength} bytes is not audio`);
    }
    const flags = view.getUint8(1);
    const header = {
        first: (flags & 1) !== 0,
        last: (flags & 2) !== 0,
        discontinuity: (flags & 4) !== 0,
        silence: (flags & 8) !== 0,
        resent: (flags & 16) !== 0,
        sid: view.getUint16(2),
        seq: view.getUint32(4),
        pts: Number(view.getBigUint64(8)),
    };
    return { header, packet: new Uint8Array(message, HEADER_BYTES) };
}
