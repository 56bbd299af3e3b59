// The events themselves.
import type { RecordedEvent } from '../../application/ports/eventStore.ts';
import type { StreamName } from '../../domain/kernel/event.ts';
import { CATEGORIES, readStreamName } from '../../domain/kernel/event.ts';
import { isRawId } from '../../domain/kernel/ids.ts';
import { type CliCommand, UsageError } from './command.ts';

/** An event that nobody can read is shown as it stands. */
const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

export const shown = (event: RecordedEvent) => ({
  stream: event.stream,
  revision: event.revision,
  type: event.type,
  recordedAt: event.recordedAt,
  data: jsonOf(event.data),
  metadata: jsonOf(event.metadata),
});
const line = (event: RecordedEvent): string =>
  `${event.recordedAt}  ${event.stream}@${event.revision}  ${event.type}  ${event.data}`;

/** `payment-<raw>`, an id with or without its prefix of a payment, or `logConsumer-<name>`. */
export const streamOf = (text: string): StreamName => {
  const raw = text.replace(/^(ch_|tx_)/, '');
  if (isRawId(raw)) return `payment-${raw}` as StreamName;
  const { category, id } = readStreamName(text);
  const isName = category === 'logConsumer' ? /^[\w/]{1,100}$/.test(id) : isRawId(id);
  if (!(CATEGORIES as readonly string[]).includes(category) || !isName)
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
