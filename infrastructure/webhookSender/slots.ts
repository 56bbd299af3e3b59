// Limits the concurrent attempts of one account to one origin. The others wait here in order, before their deadline starts, so that a busy
// sender is not recorded as an endpoint that did not answer. They wait in the main thread, where an attempt is signed once it has a slot.
import type {
  AttemptOutcome,
  WebhookDestination,
  WebhookRequest,
  WebhookSender,
} from '../../application/ports/webhookSender.ts';
import { refusedOutcome } from './attempt.ts';
import { errorLine } from './failure.ts';

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

const CONNECTIONS_PER_ORIGIN = 16;

export const closedOutcome = (): AttemptOutcome => refusedOutcome(errorLine('connection', 'the sender is closed'));

/** A sender without a limit. */
export interface Attempts extends Pick<WebhookSender, 'judgeUrl' | 'close'> {
  send(request: WebhookRequest): Promise<AttemptOutcome>;
}

/** Adds the limit to a sender: `perOrigin` concurrent attempts of one account and mode to one origin, and as many pings. */
export const withSlots = (attempts: Attempts, perOrigin = CONNECTIONS_PER_ORIGIN): WebhookSender => {
  const slots = openSlots(perOrigin);
  const inSlot = async <Outcome>(
    { url, mode, account, isPing }: WebhookDestination,
    attempt: () => Promise<Outcome>,
    signal?: AbortSignal,
  ): Promise<Outcome | AttemptOutcome> => {
    const key = `${isPing ? 'ping' : ''} ${mode} ${account} ${URL.parse(url)?.origin}`;
    if (!(await slots.acquire(key, signal))) return closedOutcome();
    try {
      return await attempt();
    } finally {
      slots.release(key);
    }
  };
  return {
    send: (request) => inSlot(request, () => attempts.send(request)),
    sendInTurn: (to, requestOf, signal) => {
      const attempt = async () => {
        const request = await requestOf();
        return request === null ? null : attempts.send(request);
      };
      return inSlot(to, attempt, signal);
    },
    judgeUrl: (url, mode) => attempts.judgeUrl(url, mode),
    close: () => {
      slots.close();
      return attempts.close();
    },
  };
};
