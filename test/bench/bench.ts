// `npm run bench` prints the table of architecture §10, each figure next to its counterpart of the same run.
//   --only <row,…>  charges, append, rebuild, delivery, delivery10, delivery1000, deliveryDead, latency, payouts, scale, lists,
//                   deliveryLists, liveCharges, chargesEventStoreDb, appendEventStoreDb, chargesOfMany, claims, reconciliation, roles,
//                   eventStoreDbCpu, paidCharge
//   --accounts <n>  number of accounts that take turns in charges, chargesEventStoreDb, rebuild, delivery, latency, payouts, scale,
//                   liveCharges, roles, eventStoreDbCpu and paidCharge (default: one account) and in chargesOfMany (default: 10,000).
//                   Claims and reconciliation always have 50,000
//   --events <n>    length of the log in rebuild and scale, 10,000 to 10,000,000; default 60,000
//   --quick         one short round each, to check that everything runs; the figures mean nothing
//   --against <commit>  compares this tree with a commit (07ad746 or later) in alternating rounds: charges, append, rebuild, delivery.
//                   The commit gets its own checkout with its own packages in bench-results/checkouts, which is kept
//   --prune         removes all such checkouts and exits
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { append, appendEventStoreDb } from './appendRow.ts';
import { charges, chargesEventStoreDb } from './charges.ts';
import { checkoutOf, pruneCheckouts } from './checkout.ts';
import { delivery, delivery10, delivery1000, deliveryDead } from './delivery.ts';
import { deliveryLists } from './deliveryLists.ts';
import { eventStoreDbCpu, roles } from './deployments.ts';
import { latency } from './latency.ts';
import { lists } from './lists.ts';
import { liveCharges } from './liveCharges.ts';
import { chargesOfMany, claims, reconciliation } from './manyTenants.ts';
import { paidCharge } from './paidCharge.ts';
import { PAIRED } from './paired.ts';
import { payouts } from './payouts.ts';
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
  payouts,
  scale,
  lists,
  deliveryLists,
  liveCharges,
  chargesEventStoreDb,
  appendEventStoreDb,
  chargesOfMany,
  claims,
  reconciliation,
  roles,
  eventStoreDbCpu,
  paidCharge,
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
    options: {
      only: { type: 'string' },
      events: { type: 'string' },
      accounts: { type: 'string' },
      quick: { type: 'boolean', default: false },
      against: { type: 'string' },
      prune: { type: 'boolean', default: false },
    },
  });
  const rows = Object.keys(values.against === undefined ? ROWS : PAIRED);
  const names = values.only?.split(',') ?? rows;
  for (const name of names)
    if (!rows.includes(name)) fail(`--only ${name}: there is no such row; there are: ${rows.join(', ')}`);
  const events = Number(values.events ?? (values.quick ? EVENTS_QUICK : EVENTS_DEFAULT));
  if (!Number.isSafeInteger(events) || events < 10_000 || events > 10_000_000)
    fail('--events must be a whole number from 10,000 to 10,000,000');
  const accounts = values.accounts === undefined ? null : Number(values.accounts);
  if (accounts !== null && (!Number.isSafeInteger(accounts) || accounts < 1 || accounts > 100_000))
    fail('--accounts must be a whole number from 1 to 100,000');
  const { quick, against, prune } = values;
  if (accounts !== null && against !== undefined) fail('--accounts is not possible with --against');
  return { names, events, accounts, quick, against, prune };
};

const machine = () =>
  `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}; the load generator and all servers share them`;

const { names, events, accounts, quick, against, prune } = options();
if (prune) {
  pruneCheckouts();
  process.exit(0);
}
const beganAt = new Date();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - beganAt.getTime()) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);
const rows: Row[] = [];
const other = against === undefined ? null : checkoutOf(against, say);
for (const name of names)
  if (other === null) rows.push(...(await ROWS[name]!({ quick, events, accounts, say })));
  else rows.push(await PAIRED[name]!(other, { quick, events, accounts, say }));

const result = {
  at: beganAt.toISOString(),
  machine: machine(),
  quick,
  events,
  against: other?.name ?? null,
  rows: rows.map((row) => ({ ...row, ratio: ratioOf(row) })),
};
const file = join(RESULTS, `${beganAt.toISOString().replaceAll(':', '-')}.json`);
await mkdir(RESULTS, { recursive: true });
await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
process.stdout.write(`${renderTable(rows)}\n\n${machine()}\n${file}\n`);
process.exit(0);
