// The consumers of the log, and their lags.
import { lagAfter } from '../core/lagAfter.ts';
import type { ConsumerStanding, Consumers } from '../ports/consumers.ts';
import type { EventStore, Position } from '../ports/eventStore.ts';
import type { Clock } from '../ports/system.ts';

interface ConsumerItem extends ConsumerStanding {
  readonly name: string;
  readonly isCaughtUp: boolean;
  /** Age of the first event after its position; null if the log can't be read from there. */
  readonly lagSeconds: number | null;
}

interface ConsumersNeeds {
  readonly store: Pick<EventStore, 'head' | 'subscribe'>;
  readonly consumers: Pick<Consumers, 'standings'>;
  readonly auditClock: Clock;
}

/** Returns the head of the log, and the progress of each read model and process. */
export const listConsumers =
  ({ store, consumers, auditClock }: ConsumersNeeds) =>
  async (): Promise<{ readonly head: Position | null; readonly consumers: readonly ConsumerItem[] }> => {
    const head = await store.head();
    const found: ConsumerItem[] = [];
    for (const [name, { position, partitions, version }] of await consumers.standings()) {
      const isCaughtUp = position === head;
      const lag = isCaughtUp ? { seconds: 0 } : await lagAfter(store, auditClock, position);
      found.push({ name, position, partitions, version, isCaughtUp, lagSeconds: lag?.seconds ?? null });
    }
    return { head, consumers: found };
  };
