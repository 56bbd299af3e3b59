// Randomness and time from the operating system.
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Randomness, Stopwatch } from '../../application/ports/system.ts';

/** Bytes drawn at once. Under load a draw of any size costs 12 µs, and each command and request needs 16 bytes. */
const DRAWN_BYTES = 4_096;

/** Each byte is returned once and never overwritten, so that callers may keep the buffers. */
let drawn = Buffer.alloc(0);
let used = 0;

const bytes = (size: number): Buffer => {
  if (size > DRAWN_BYTES) return randomBytes(size);
  if (used + size > drawn.length) {
    drawn = randomBytes(DRAWN_BYTES);
    used = 0;
  }
  used += size;
  return drawn.subarray(used - size, used);
};

export const systemRandomness: Randomness = { bytes, fraction: Math.random };

export const systemStopwatch: Stopwatch = {
  elapsedMs: () => performance.now(),
  pause: (ms, signal) => setTimeout(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined),
};
