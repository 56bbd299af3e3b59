// The events themselves.
import type { RecordedEvent } from '../../application/ports/eventStore.ts';
import type { CliCommand } from './command.ts';
import { type Screen, table } from './output.ts';
import { streamOf } from './typed.ts';

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
const cells = (event: RecordedEvent): readonly string[] => [
  event.recordedAt,
  `${event.stream}@${event.revision}`,
  event.type,
  event.data,
];
export const eventTable = (screen: Screen, events: readonly RecordedEvent[]): string =>
  table(screen, ['RECORDED', 'EVENT', 'TYPE', 'DATA'], events.map(cells));

const show: CliCommand = {
  name: 'events show',
  summary: 'All events of one stream: payment-<raw id>, or simply a ch_ id',
  args: [{ name: 'stream' }],
  options: {},
  run: async ({ storage }, { args }) => {
    const events: RecordedEvent[] = [];
    for await (const event of storage.store.readStream(streamOf(args[0] as string))) events.push(event);
    return {
      json: events.map(shown),
      text: events.length > 0 ? (screen) => eventTable(screen, events) : 'no events',
      isBad: events.length === 0,
    };
  },
};

const tail: CliCommand = {
  name: 'events tail',
  summary: 'Events as they are recorded, until Ctrl-C',
  args: [],
  options: { all: { description: 'begin with the first event of the log', flag: true } },
  run: async ({ storage: { store }, signal }, { options, isJson }, { print }) => {
    const after = options['all'] ? null : await store.head();
    for await (const batch of store.subscribe({ after, categories: null, signal }))
      if (batch.kind === 'events')
        for (const event of batch.events) print(isJson ? JSON.stringify(shown(event)) : cells(event).join('  '));
    return { json: undefined, text: '' };
  },
};

export const eventCommands: readonly CliCommand[] = [show, tail];
