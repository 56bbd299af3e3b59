// Which folders may import which (architecture §2).
import { importsOf, type Problem, type Source } from './source.ts';

/** `ours`: our folders or files. `packages`: packages and node: modules, or null for any. */
interface Allowance {
  readonly ours: readonly string[];
  readonly packages: readonly string[] | null;
}
const ALLOWED: Readonly<Record<string, Allowance>> = {
  domain: { ours: ['domain/'], packages: [] },
  application: { ours: ['domain/', 'application/'], packages: ['node:crypto', 'canonicalize', 'lru-cache', 'typebox'] },
  projections: { ours: ['domain/', 'application/ports/', 'projections/'], packages: ['knex', 'lru-cache'] },
  http: { ours: ['domain/', 'application/', 'http/'], packages: null },
  infrastructure: { ours: ['domain/', 'application/ports/', 'infrastructure/'], packages: null },
  'infrastructure/subscriptions': {
    ours: ['domain/', 'application/ports/', 'infrastructure/', 'projections/engine/'],
    packages: null,
  },
  // The sockets below the HTTP application.
  'infrastructure/server': {
    ours: ['domain/', 'application/ports/', 'application/core/keyedCount.ts', 'infrastructure/', 'http/kernel/'],
    packages: null,
  },
  // Addresses and the keys of witnesses are validated before the program listens.
  ...Object.fromEntries(
    [
      ['config', ['http/kernel/address.ts', 'application/audit/signedNote.ts']] as const,
      ['mail', ['http/kernel/address.ts']] as const,
    ].map(([folder, more]) => [
      `infrastructure/${folder}`,
      { ours: ['domain/', 'application/ports/', 'infrastructure/', ...more], packages: null },
    ]),
  ),
  // Migrates the database to the schema of this version.
  'infrastructure/postgres': {
    ours: ['domain/', 'application/ports/', 'infrastructure/', 'migrations/'],
    packages: null,
  },
  ...Object.fromEntries(
    // The composition root and separate programs, which combine the folders.
    ['boot', 'cli', 'demo', 'logMigration'].map((folder) => [
      `infrastructure/${folder}`,
      {
        ours: [
          ...['domain/', 'application/', 'projections/', 'infrastructure/', 'http/', 'migrations/'],
          ...['docs/receivers/', 'docs/auditors/'],
        ],
        packages: null,
      },
    ]),
  ),
  migrations: { ours: ['migrations/'], packages: ['knex'] },
};

const matches = (target: string, allowed: string): boolean => {
  if (!allowed.includes('*')) return allowed.endsWith('/') ? target.startsWith(allowed) : target === allowed;
  const [before = '', after = ''] = allowed.split('*');
  return target.startsWith(before) && target.endsWith(after) && target.split('/').length === allowed.split('/').length;
};

const allowanceOf = (path: string): readonly [string, Allowance] | null => {
  const [outer = '', inner = '', file = ''] = path.split('/');
  // The commands of a capability are part of the command line and loaded only there.
  const isCommand = outer === 'infrastructure' && (file === 'terminal.ts' || file === 'commands');
  const room = isCommand
    ? 'infrastructure/cli'
    : Object.hasOwn(ALLOWED, `${outer}/${inner}`)
      ? `${outer}/${inner}`
      : outer;
  const allowance = ALLOWED[room];
  return allowance === undefined ? null : [room, allowance]; // Tests may import anything.
};

export const roomProblems = (sources: readonly Source[]): readonly Problem[] =>
  sources.flatMap((source) => {
    const found = allowanceOf(source.path);
    if (found === null) return [];
    const [room, { ours, packages }] = found;
    const isAllowed = (target: string, isOurs: boolean) =>
      isOurs ? ours.some((allowed) => matches(target, allowed)) : packages === null || packages.includes(target);
    return importsOf(source)
      .filter(({ target, isOurs }) => !isAllowed(target, isOurs))
      .map(
        ({ target }) =>
          `${source.path} imports ${target}: ${room} may import ${[...ours, ...(packages ?? ['any package'])].join(', ')}`,
      );
  });

/** Folders with a single entry file, and the tests that may import their other files. */
const SEALED: readonly { readonly folder: string; readonly entry: string; readonly tests: readonly string[] }[] = [
  {
    folder: 'infrastructure/eventStore/eventStoreDb/',
    entry: 'eventStoreDb.ts',
    tests: ['test/infrastructure/eventStore/eventStoreDb/', 'test/support/eventStoreDb/'],
  },
  {
    folder: 'infrastructure/embeddedPostgres/',
    entry: 'embeddedPostgres.ts',
    tests: ['test/infrastructure/embeddedPostgres/', 'test/world/embeddedPostgres.ts', 'test/soak/deployment/'],
  },
];

export const sealProblems = (sources: readonly Source[]): readonly Problem[] =>
  SEALED.flatMap(({ folder, entry, tests }) =>
    sources
      .filter(({ path }) => ![folder, ...tests].some((inside) => path.startsWith(inside)))
      .flatMap((source) =>
        importsOf(source)
          .filter(({ target }) => target.startsWith(folder) && target !== folder + entry)
          .map(({ target }) => `${source.path} imports ${target}: ${folder} is entered through ${entry}`),
      ),
  );

/** The aggregates, which other folders of the domain may build on. */
const AGGREGATES = [
  'account',
  'charge',
  'dispute',
  'keyring',
  'logConsumer',
  'providerConnection',
  'refund',
  'transaction',
  'user',
  'webhookDelivery',
  'webhookEndpoint',
];
const DOMAIN_LAYERS: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  pix: ['kernel'],
  methods: ['kernel'],
  payment: ['kernel', 'presentation', ...AGGREGATES],
  // Payout requests follow the same rules as charge requests.
  payout: ['kernel', 'pix', 'presentation', 'charge'],
  presentation: ['kernel', 'pix', 'payment', 'aggregates.ts', ...AGGREGATES],
  ...Object.fromEntries(AGGREGATES.map((name) => [name, ['kernel', 'pix', 'methods']])),
};

/** An aggregate may import types of a sibling and the constants that spell them out. Code that needs both belongs in payment/. */
export const siblingProblems = (sources: readonly Source[]): readonly Problem[] =>
  sources.flatMap((source) => {
    const [room, folder, file] = source.path.split('/');
    if (room !== 'domain' || file === undefined || folder === undefined) return []; // domain/aggregates.ts lists all aggregates.
    const layers = DOMAIN_LAYERS[folder];
    if (layers === undefined)
      return [`${source.path}: tell test/support/tidy/rooms.ts what domain/${folder} may build on`];
    return importsOf(source).flatMap(({ target, isOurs, values }) => {
      const [, sibling = ''] = target.split('/');
      if (!isOurs || sibling === folder || layers.includes(sibling)) return [];
      const isVocabulary =
        AGGREGATES.includes(folder) &&
        AGGREGATES.includes(sibling) &&
        values.every((name) => /^[A-Z][A-Z0-9_]*$/.test(name));
      return isVocabulary
        ? []
        : [
            `${source.path} reaches into ${target} (${values.join(', ')}): what needs two aggregates stands in payment/`,
          ];
    });
  });
