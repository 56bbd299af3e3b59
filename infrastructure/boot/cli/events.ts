// The events themselves.
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/event.ts';
import { CATEGORIES } from '../../../domain/kernel/event.ts';
import { isRawId } from '../../../domain/kernel/ids.ts';
import { type CliCommand, UsageError } from './command.ts';

const shown = (event: RecordedEvent) => ({
  stream: event.stream,
  revision: event.revision,
  type: event.type,
  recordedAt: event.recordedAt,
  data: JSON.parse(event.data) as unknown,
  metadata: JSON.parse(event.metadata) as unknown,
});
const line = (event: RecordedEvent): string =>
  `${event.recordedAt}  ${event.stream}@${event.revision}  ${event.type}  ${event.data}`;

/** `payment-<raw>`, or an id with or without its prefix of a payment. */
const streamOf = (text: string): StreamName => {
  const raw = text.replace(/^(ch_|tx_)/, '');
  if (isRawId(raw)) return `payment-${raw}` as StreamName;
  const [category = '', id = ''] = text.split('-');
  if (!(CATEGORIES as readonly string[]).includes(category) || !isRawId(id))
    throw new UsageError(`"${text}" names no stream: payment-<raw id>, or a ch_ id`);
  return text as StreamName;
};

const show: CliCommand = {
  name: 'events show',
  summary: 'All events of one stream: payment-<raw id>, or simply a ch_ id',
  args: ['stream'],
  options: {},
  run: async ({ storage }, { args }) => {
    const events: RecordedEvent[] = [];
    for await (const event of storage.store.readStream(streamOf(args[0] as string))) events.push(event);
    return {
      json: events.map(shown),
      text: events.length > 0 ? events.map(line).join('\n') : 'no events',
      isBad: events.length === 0,
    };
  },
};

const tail: CliCommand = {
  name: 'events tail',
  summary: 'Events as they are recorded, until Ctrl-C',
  args: [],
  options: { all: { description: 'begin with the first event of the log', flag: true } },
  run: async ({ storage: { store }, signal }, { options, print }) => {
    const after = options['all'] ? null : await store.head();
    for await (const batch of store.subscribe({ after, categories: null, signal }))
      if (batch.kind === 'events')
        for (const event of batch.events) print(options['json'] ? JSON.stringify(shown(event)) : line(event));
    return { json: null, text: '' };
  },
};

export const eventCommands: readonly CliCommand[] = [show, tail];
