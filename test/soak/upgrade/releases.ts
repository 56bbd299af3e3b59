// Makes two neighboring releases from this tree, because no two releases have been published yet. The older one reads a new form of an
// event and still writes the old one. The newer one writes the new form, stores more in a read model, adds a field to a job, and has one
// more migration (docs/upgrading.md).
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIGRATIONS } from '../../../infrastructure/postgres/migrate.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ROOMS = ['application', 'docs', 'domain', 'http', 'infrastructure', 'migrations', 'projections', 'package.json'];

/** A text that occurs once in a file, and its replacement. */
type Edit = readonly [file: string, was: string, becomes: string];

/** Renames the payer lock of `ChargeCreated`, a personal field that is usually absent. */
const READS_NEW_FORM: readonly Edit[] = [
  [
    'domain/payment/create.ts',
    'const created: PaymentEvent = {',
    'const { expectedPayerTaxId: payerLock, ...others } = terms;\n    const created = {',
  ],
  [
    'domain/payment/create.ts',
    'data: { ...terms, fingerprint: newFingerprint(wish) } }',
    'data: { ...others, payerLock, fingerprint: newFingerprint(wish) } } as unknown as PaymentEvent',
  ],
  [
    'domain/charge/charge.ts',
    'const { fingerprint, ...terms } = event.data;',
    'const { fingerprint, payerLock: expectedPayerTaxId, ...others } = event.data as any;\n    const terms = { ...others, expectedPayerTaxId };',
  ],
  [
    'domain/charge/charge.ts',
    'export const chargeSerde: SerdeTable<ChargeEvent> = {\n  ChargeCreated: {\n    version: 1,\n    shape: ',
    'const createdV1 = {\n    shape: ',
  ],
  [
    'domain/charge/charge.ts',
    '      connectionId: { usually: null },\n    },\n  },\n  ChargeRerouted: {',
    `      connectionId: { usually: null },
    },
  } as any;
const { expectedPayerTaxId: lockShape, ...sharedShapes } = createdV1.shape.fields;
const { expectedPayerTaxId: lockUnsaid, ...sharedUnsaid } = createdV1.unsaid;
const createdV2 = {
  version: 2,
  shape: record<any>({ ...sharedShapes, payerLock: lockShape }),
  personal: ['customer', 'customerId', 'metadata', 'payerLock'],
  unsaid: { ...sharedUnsaid, payerLock: lockUnsaid },
  former: {
    1: {
      ...createdV1,
      upcast: ({ expectedPayerTaxId: payerLock, ...data }: any) => ({ ...data, payerLock }),
      downcast: ({ payerLock: expectedPayerTaxId, ...data }: any) => ({ ...data, expectedPayerTaxId }),
    },
  },
};

export const chargeSerde: SerdeTable<ChargeEvent> = {
  ChargeCreated: {
    ...createdV2,
    writes: 1,
  },
  ChargeRerouted: {`,
  ],
];

const WRITES_NEW_FORM: readonly Edit[] = [
  ['domain/charge/charge.ts', '    ...createdV2,\n    writes: 1,\n', '    ...createdV2,\n'],
];

const payments = /version: (\d+),\n {2}aggregate: PAYMENT,/;
const OTHER_READ_MODEL: readonly Edit[] = [
  [
    'projections/payments/projection.ts',
    "    { name: 'held_since', type: 'timestamptz', of: heldSince, isDerived: true },\n",
    "    { name: 'held_since', type: 'timestamptz', of: heldSince, isDerived: true },\n    { name: 'payer_lock', type: 'text', of: (state) => (exists(state) ? state.charge.terms.expectedPayerTaxId : null), isDerived: true },\n",
  ],
];

/** Workers of the older release ignore such jobs. */
const OTHER_JOB: readonly Edit[] = [
  [
    'application/payments/settle.ts',
    'export const settle = jobKind({\n',
    "import Type from 'typebox';\nexport const settle = jobKind({\n  version: 2,\n",
  ],
  [
    'application/payments/settle.ts',
    'mode, reference: text }),\n',
    'mode, reference: text, release: Type.Optional(text) }),\n',
  ],
  [
    'application/payments/settle.ts',
    '  payload: { accountId, mode, reference },\n',
    "  payload: { accountId, mode, reference, release: 'newer' },\n",
  ],
];

const apply = async (root: string, edits: readonly Edit[]): Promise<void> => {
  for (const [file, was, becomes] of edits) {
    const text = await readFile(join(root, file), 'utf8');
    if (text.split(was).length !== 2) throw new Error(`${file}: the text to change is not there once: ${was}`);
    await writeFile(
      join(root, file),
      text.replace(was, () => becomes),
    );
  }
};

const raisePaymentsVersion = async (root: string): Promise<void> => {
  const file = join(root, 'projections/payments/projection.ts');
  const text = await readFile(file, 'utf8');
  const raised = text.replace(payments, (all, version) => all.replace(version, String(Number(version) + 1)));
  if (raised === text) throw new Error(`${file}: its version was not found`);
  await writeFile(file, raised);
};

const copyOf = async (folder: string, name: string): Promise<string> => {
  const root = join(folder, name);
  await mkdir(root);
  for (const room of ROOMS) await cp(join(ROOT, room), join(root, room), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return root;
};

/** The last migration of the newer release. */
export const EXPANSION = `${String(Number((MIGRATIONS.at(-1) as string).slice(0, 4)) + 1).padStart(4, '0')}_newer_release`;

const addMigration = (root: string): Promise<void> =>
  writeFile(
    join(root, `migrations/${EXPANSION}.ts`),
    `import type { Knex } from 'knex';
export const up = async (db: Knex): Promise<void> => {
  await db.raw('ALTER TABLE operations.restores ADD COLUMN noted_by text');
};
export const down = async (): Promise<void> => {};
`,
  );

export interface Releases {
  /** Roots of the checkouts. */
  readonly older: string;
  readonly newer: string;
  remove(): Promise<void>;
}

/** `otherReadModel`: whether the newer release stores more in a read model, which it then rebuilds. */
export const makeReleases = async ({ otherReadModel = true } = {}): Promise<Releases> => {
  const folder = await mkdtemp(join(tmpdir(), 'quita-releases-'));
  await chmod(folder, 0o755);
  const [older, newer] = [await copyOf(folder, 'older'), await copyOf(folder, 'newer')];
  for (const root of [older, newer]) await apply(root, READS_NEW_FORM);
  await apply(newer, [...WRITES_NEW_FORM, ...(otherReadModel ? OTHER_READ_MODEL : []), ...OTHER_JOB]);
  if (otherReadModel) await raisePaymentsVersion(newer);
  await addMigration(newer);
  return { older, newer, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }) };
};
