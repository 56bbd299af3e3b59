// `npm run bench`: the table of architecture §10, each figure beside its counterpart of the same run.
//   --only <row,…>  charges, append, rebuild, delivery, delivery10, delivery1000, deliveryDead, latency, scale, lists, deliveryLists,
//                   chargesEventStoreDb, appendEventStoreDb
//   --events <n>    length of the log in rebuild and scale, 10,000 to 10,000,000; default 60,000
//   --quick         one short round each: whether it runs, not how fast
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { append, appendEventStoreDb } from './appendRow.ts';
import { charges, chargesEventStoreDb } from './charges.ts';
import { delivery, delivery10, delivery1000, deliveryDead } from './delivery.ts';
import { deliveryLists } from './deliveryLists.ts';
import { latency } from './latency.ts';
import { lists } from './lists.ts';
import { rebuild } from './rebuild.ts';
import { type BenchRow, type Row, ratioOf } from './row.ts';
import { scale } from './scale.ts';
import { renderTable } from './table.ts';

const ROWS: Readonly<Record<string, BenchRow>> = {
  charges,
  append,
  rebuild,
  delivery,
  delivery10,
  delivery1000,
  deliveryDead,
  latency,
  scale,
  lists,
  deliveryLists,
  chargesEventStoreDb,
  appendEventStoreDb,
};
const EVENTS_DEFAULT = 60_000;
const EVENTS_QUICK = 10_000;
const RESULTS = join(import.meta.dirname, '../../bench-results');

const fail = (message: string): never => {
  process.stderr.write(`bench: ${message}\n`);
  process.exit(2);
};

const options = () => {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, events: { type: 'string' }, quick: { type: 'boolean', default: false } },
  });
  const names = values.only?.split(',') ?? Object.keys(ROWS);
  for (const name of names)
    if (!Object.hasOwn(ROWS, name))
      fail(`--only ${name}: there is no such row; there are: ${Object.keys(ROWS).join(', ')}`);
  const events = Number(values.events ?? (values.quick ? EVENTS_QUICK : EVENTS_DEFAULT));
  if (!Number.isSafeInteger(events) || events < 10_000 || events > 10_000_000)
    fail('--events must be a whole number from 10,000 to 10,000,000');
  return { names, events, quick: values.quick };
};

const machine = () =>
  `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}; the load generator and all servers share them`;

const { names, events, quick } = options();
const beganAt = new Date();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - beganAt.getTime()) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);
const rows: Row[] = [];
for (const name of names) rows.push(...(await ROWS[name]!({ quick, events, say })));

const result = {
  at: beganAt.toISOString(),
  machine: machine(),
  quick,
  events,
  rows: rows.map((row) => ({ ...row, ratio: ratioOf(row) })),
};
const file = join(RESULTS, `${beganAt.toISOString().replaceAll(':', '-')}.json`);
await mkdir(RESULTS, { recursive: true });
await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
process.stdout.write(`${renderTable(rows)}\n\n${machine()}\n${file}\n`);
process.exit(0);
