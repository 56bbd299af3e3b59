// The server's timers: delayed answers and the write time-out. There are no other timers in this folder.

/** Calls `then` after `ms`; for 0 in the same turn. */
export const after = (ms: number, then: () => void): void => {
  if (ms === 0) then();
  else setTimeout(then, ms).unref();
};
