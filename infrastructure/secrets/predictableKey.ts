// Keys that somebody typed instead of having them made (rule S6).

/** Repeats of a pattern up to half a key are found. */
const LAG_MAX = 16;
/** Between bytes of a random key there are hardly ever fewer different steps: one key of 10^20 is refused for it. */
const STEPS_MIN = 4;

/**
 * Returns whether the bytes repeat or count: all alike, a pattern over and over, or each a fixed step from the one before it, with a jump
 * or two. `key`: 32 bytes.
 */
export const isPredictable = (key: Uint8Array): boolean => {
  for (let lag = 1; lag <= LAG_MAX; lag++) {
    const steps = new Set(key.subarray(lag).map((byte, index) => byte - (key[index] as number)));
    if (steps.size < STEPS_MIN) return true;
  }
  return false;
};
