// Events that an operator had a consumer of the log skip: one stream per read model or process. Skips are events themselves, so that a
// rebuild and a comparison omit the same events (architecture §7).
import { aggregate } from '../kernel/aggregate.ts';
import type { Decider, Decision, Fact } from '../kernel/decider.ts';
import { oneGroup } from '../kernel/eventGroups.ts';
import { flag, integer, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';

export interface Skip {
  /** Name of the consumer, such as `payments` or `process/expiry`. */
  readonly consumer: string;
  readonly stream: string;
  /** Revision of the skipped event. */
  readonly revision: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly reason: string;
  /** Operating-system user who requested it. */
  readonly operator: string;
  /** Whether the consumer is a read model or moves money, which required a second confirmation. */
  readonly isForced: boolean;
  readonly at: Timestamp;
}

type LogConsumerEventSkipped = Fact<'LogConsumerEventSkipped', Skip>;
type LogConsumerEvent = LogConsumerEventSkipped;

interface LogConsumerState {
  readonly skipped: readonly Skip[];
}

export const logConsumer: Decider<LogConsumerState, LogConsumerEvent> = {
  initial: { skipped: [] },
  evolve: (state, event) =>
    event.type === 'LogConsumerEventSkipped' ? { skipped: [...state.skipped, event.data] } : state,
};

/** Records a skip. No-op if the event is already skipped; the first reason is kept. */
export const skipEvent =
  (skip: Skip): Decision<LogConsumerState, LogConsumerEvent, Skip> =>
  ({ skipped }) => {
    const before = skipped.find(({ stream, revision }) => stream === skip.stream && revision === skip.revision);
    return before
      ? { events: [], reply: before }
      : { events: [{ type: 'LogConsumerEventSkipped', data: skip }], reply: skip };
  };

const logConsumerSerde: Serde<LogConsumerEvent> = serdeOf<LogConsumerEvent>({
  LogConsumerEventSkipped: {
    version: 1,
    shape: record<Skip>({
      consumer: text(),
      stream: text(),
      revision: integer,
      eventId: text(),
      eventType: text(),
      reason: text(),
      operator: text(),
      isForced: flag,
      at: time,
    }),
    personal: ['operator'],
  },
});

export const LOG_CONSUMER = aggregate<string>()({
  category: 'logConsumer',
  idPrefix: null,
  decider: logConsumer,
  serde: logConsumerSerde,
  groups: oneGroup(logConsumerSerde),
  isSubject: (text) => /^[\w/]{1,100}$/.test(text),
});
