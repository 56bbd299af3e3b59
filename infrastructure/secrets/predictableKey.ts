// Detects keys that were typed instead of generated (rule S6).

/** Longest repeated pattern that is detected: half a key. */
const LAG_MAX = 16;
/** A random key has fewer different steps between its bytes only once in 10^20 keys. */
const STEPS_MIN = 4;

/**
 * Returns whether the bytes repeat or count: all equal, a repeated pattern, or a fixed step from byte to byte with few exceptions.
 * `key`: 32 bytes.
 */
export const isPredictable = (key: Uint8Array): boolean => {
  for (let lag = 1; lag <= LAG_MAX; lag++) {
    const steps = new Set(key.subarray(lag).map((byte, index) => byte - (key[index] as number)));
    if (steps.size < STEPS_MIN) return true;
  }
  return false;
};
