// The server's own time: delayed answers and the write time-out. The only timers of this folder.

/** Calls `then` after `ms`; at once (in the same turn) for 0. */
export const after = (ms: number, then: () => void): void => {
  if (ms === 0) then();
  else setTimeout(then, ms).unref();
};
