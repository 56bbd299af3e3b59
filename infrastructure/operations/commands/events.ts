// Commands that print events.
import { recordedEventView } from '../../../application/core/eventView.ts';
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';
import { type CliCommand, streamOf } from '../../cli/command.ts';
import { plainRow, type Screen, table } from '../../cli/output.ts';

export const shown = recordedEventView;
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
  summary: 'Show all events of one stream: payment-<raw id>, or simply a ch_ id',
  args: [{ name: 'stream' }],
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
  summary: 'Print events as they are recorded, until Ctrl-C',
  options: { all: { description: 'start at the first event of the log', flag: true } },
  run: async (world, { options, isJson }, { print }) => {
    for await (const events of world.platform.readLog(options['all'] ? 'start' : 'end', true, world.signal))
      for (const event of events) print(isJson ? JSON.stringify(shown(event)) : plainRow(cells(event)));
    return { json: undefined, text: '' };
  },
};

const exportAll: CliCommand = {
  name: 'events export',
  summary: 'Print all events of the log in order, one JSON text per line',
  run: async (world, _, { print }) => {
    for await (const events of world.platform.readLog('start', false, world.signal))
      for (const event of events) print(JSON.stringify(shown(event)));
    return { json: undefined, text: '' };
  },
};

export const eventCommands: readonly CliCommand[] = [show, tail, exportAll];
