// The server’s timers, for delayed answers and the write timeout. There are no other timers in this folder.

/** Calls `then` after `ms`, or in the same turn if `ms` is 0. */
export const after = (ms: number, then: () => void): void => {
  if (ms === 0) then();
  else setTimeout(then, ms).unref();
};
