// Limits the concurrent attempts of one account to one origin. The others wait here in order, before their deadline starts, so that a busy
// sender is not recorded as an endpoint that did not answer.

interface Slots {
  /**
   * Returns true when a slot is held, or false if the slots were closed. Each true needs one `release`. Rejects with the signal's reason if
   * it aborts during the wait.
   */
  acquire(key: string, signal?: AbortSignal): boolean | Promise<boolean>;
  release(key: string): void;
  close(): void;
}

interface Lane {
  held: number;
  readonly waiting: ((granted: boolean) => void)[];
}

export function openSlots(perKey: number): Slots {
  const lanes = new Map<string, Lane>();
  let closed = false;
  return {
    acquire(key, signal) {
      if (closed) return false;
      let lane = lanes.get(key);
      if (lane === undefined) {
        lane = { held: 0, waiting: [] };
        lanes.set(key, lane);
      }
      if (lane.held < perKey) {
        lane.held += 1;
        return true;
      }
      const { waiting } = lane;
      return new Promise((resolve, reject) => {
        const take = (granted: boolean): void => {
          signal?.removeEventListener('abort', leave);
          resolve(granted);
        };
        const leave = (): void => {
          waiting.splice(waiting.indexOf(take), 1);
          reject(signal?.reason);
        };
        if (signal?.aborted) return reject(signal.reason);
        signal?.addEventListener('abort', leave);
        waiting.push(take);
      });
    },
    release(key) {
      const lane = lanes.get(key);
      if (lane === undefined) return;
      const next = lane.waiting.shift();
      if (next !== undefined) return next(true);
      lane.held -= 1;
      if (lane.held === 0) lanes.delete(key);
    },
    close() {
      closed = true;
      for (const lane of lanes.values()) {
        for (const refuse of lane.waiting.splice(0)) refuse(false);
      }
    },
  };
}
