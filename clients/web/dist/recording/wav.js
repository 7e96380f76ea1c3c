/** Samples as a WAVE file: 16 bits, one channel. Pure. */
const HEADER_BYTES = 44;
export function wav(chunks, rate) {
    const count = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const view = new DataView(new ArrayBuffer(HEADER_BYTES + 2 * count));
    header(view, rate, 2 * count);
    let at = HEADER_BYTES;
    for (const chunk of chunks) {
        for (const sample of chunk) {
            view.setInt16(at, Math.round(Math.max(-1, Math.min(1, sample)) * 32767), true);
            at += 2;
        }
    }
    return new Blob([view.buffer], { type: "audio/wav" });
}
function header(view, rate, bytes) {
    text(view, 0, "RIFF");
    view.setUint32(4, HEADER_BYTES - 8 + bytes, true);
    text(view, 8, "WAVEfmt ");
    view.setUint32(16, 16, true);
    view.setUint16(20, 1, true); // PCM
    view.setUint16(22, 1, true); // channels
    view.setUint32(24, rate, true);
    view.setUint32(28, 2 * rate, true);
    view.setUint16(32, 2, true);
    view.setUint16(34, 16, true);
    text(view, 36, "data");
    view.setUint32(40, bytes, true);
}
function text(view, at, letters) {
    for (let i = 0; i < letters.length; i += 1)
        view.setUint8(at + i, letters.charCodeAt(i));
}
