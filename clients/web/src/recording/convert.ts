/**
 * A recording in a file that servers read: those that they do not (m4a of a telephone, webm of a
 * browser) are decoded by the browser and written as WAVE.
 */

import { wav } from "./wav.js";

/** How the files begin that servers read: wav, flac, ogg, mp3 with and without a tag. */
const BEGINNINGS = ["RIFF", "fLaC", "OggS", "ID3"];
const RATE = 48_000;
/** A longer file is no recording of a few seconds, and would fill the memory. */
const MAX_BYTES = 32 * 1024 * 1024;

/** The file itself where servers read it, or the browser cannot; else the same sound as WAVE. */
export async function asReadable(file: Blob): Promise<Blob> {
  if (file.size > MAX_BYTES || (await isRead(file))) return file;
  try {
    const context = new OfflineAudioContext(1, 1, RATE);
    const sound = await context.decodeAudioData(await file.arrayBuffer());
    return wav([mixed(sound)], sound.sampleRate);
  } catch {
    return file; // no sound to this browser either; the server says what it can read
  }
}

async function isRead(file: Blob): Promise<boolean> {
  const bytes = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const letters = String.fromCharCode(...bytes);
  const frame = bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0;
  return frame || BEGINNINGS.some((beginning) => letters.startsWith(beginning));
}

function mixed(sound: AudioBuffer): Float32Array {
  const mix = new Float32Array(sound.length);
  for (let channel = 0; channel < sound.numberOfChannels; channel += 1) {
    sound.getChannelData(channel).forEach((sample, i) => {
      mix[i] = (mix[i] as number) + sample / sound.numberOfChannels;
    });
  }
  return mix;
}
