// One of the processes of `bulk`, which fill the log or build read models in parallel on all cores. Prints lines about its progress.
import { openStorage } from '../../infrastructure/boot/storage.ts';
import { SecretsKeyring } from '../../infrastructure/secrets/keyring.ts';
import { rebuild } from '../../projections/engine/rebuild.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { type BulkTenant, fillLog, type Part } from './bulkLog.ts';

export interface BulkWork {
  readonly connectionString: string;
  /** Base64. */
  readonly secretsKey: string;
  readonly work:
    | { readonly kind: 'fill'; readonly tenants: readonly BulkTenant[]; readonly events: number; readonly part: Part }
    /** Names of read models. */
    | { readonly kind: 'project'; readonly names: readonly string[] };
}

const SAID_EVERY = 500_000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { connectionString, secretsKey, work } = JSON.parse(process.argv[2] ?? '') as BulkWork;
const keyring = new SecretsKeyring([Buffer.from(secretsKey, 'base64')]);
const storage = await openStorage(connectionString, null, keyring, (error) => say(String(error)));
let events: number;
if (work.kind === 'fill') events = await fillLog(storage, work.tenants, work.events, work.part, say);
else {
  let said = 0;
  const onTaken = (_: unknown, taken: number): void => {
    if (taken - said < SAID_EVERY) return;
    said = taken;
    say(`${taken} of ${work.names.length === 1 ? work.names[0] : 'the other read models'}`);
  };
  const chosen = PROJECTIONS.filter(({ name }) => work.names.includes(name));
  const reports = await rebuild(chosen, storage, storage.openSession, { onTaken });
  events = Math.max(...reports.map((report) => report.events));
}
await storage.close();
const { user, system } = process.cpuUsage();
say(`${work.kind}: ${events} events, ${((user + system) / events).toFixed(0)} µs of Node's CPU each`);
process.exit(0);
