// The code follows the layout in the architecture (§2). Every rule has examples that it must reject.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { cycleProblems } from './support/tidy/cycles.ts';
import { functionProblems, staleLongFunctions } from './support/tidy/functions.ts';
import {
  deadFileProblems,
  type Manifest,
  migrationProblems,
  readmeProblems,
  scriptProblems,
  variableProblems,
  variablesRead,
} from './support/tidy/project.ts';
import { proseProblems, staleProse } from './support/tidy/prose.ts';
import { roomProblems, sealProblems, siblingProblems } from './support/tidy/rooms.ts';
import { importsOf, type Problem, readSources, type Source } from './support/tidy/source.ts';
import { staleTimers, textProblems, widthProblems } from './support/tidy/text.ts';
import { ignoredTypesProblems, staleOpenDefaults, totalityProblems } from './support/tidy/totality.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => (existsSync(ROOT + path) ? readFileSync(ROOT + path, 'utf8') : '');
const sources = readSources(ROOT);
const documents = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT }).sort()].map(
  (path): Source => ({ path, text: read(path) }),
);
const manifest = JSON.parse(read('package.json')) as Manifest;
const none = (problems: readonly Problem[]) => expect(problems, `\n${problems.join('\n')}\n`).to.have.length(0);

describe('the repository', () => {
  it('has no forbidden imports between rooms', () => none(roomProblems(sources)));
  it('imports sealed modules through their entry only', () => none(sealProblems(sources)));
  it('has no import cycles', () => none(cycleProblems(sources)));
  it('has no forbidden imports between aggregates', () => none(siblingProblems(sources)));
  it('has no clocks, randomness, TODOs, disabled tests or sleeps', () => none(textProblems(sources)));
  it('has no outdated entries in the list of timers in tests', () => none(staleTimers(sources)));
  it('lists every type in switches on an event type', () => none(totalityProblems(sources)));
  it('ignores groups of events, not lists of types', () => none(ignoredTypesProblems(sources)));
  it('has no outdated entries in the list of open switches', () => none(staleOpenDefaults(sources)));
  it('has plain comments, texts and documents', () => none(proseProblems([...sources, ...documents])));
  it('has no outdated entries in the list of remaining phrases', () => none(staleProse([...sources, ...documents])));
  it('has no wide lines', () => none(widthProblems(sources)));
  it('has no long functions', () => none(functionProblems(sources)));
  it('has no outdated entries in the list of long functions', () => none(staleLongFunctions(sources)));
  it('has no dead files', () => none(deadFileProblems(sources, manifest)));
  it('numbers migrations without gaps', () => none(migrationProblems(readdirSync(`${ROOT}migrations`))));
  it('has scripts that exist and begin with exec', () =>
    none(scriptProblems(manifest, (path) => existsSync(ROOT + path))));
  it('has both commands in the README', () => none(readmeProblems(read('README.md'))));
  it('reads, lists and explains every variable', () => {
    none(variableProblems(read('infrastructure/config/config.ts'), read('.env.example'), read('README.md')));
  });
});

const file = (path: string, text: string): Source => ({ path, text });
/** Tests that the rule rejects `bad` and accepts `good`. */
const rule = (
  name: string,
  check: (source: Source) => readonly Problem[],
  bad: readonly Source[],
  good: readonly Source[],
) => {
  describe(`the rule about ${name}`, () => {
    for (const source of bad)
      it(`rejects ${source.path}: ${source.text.slice(0, 60).trim()}`, () => expect(check(source)).to.have.length(1));
    for (const source of good)
      it(`accepts ${source.path}: ${source.text.slice(0, 60).trim()}`, () => none(check(source)));
  });
};

rule(
  'rooms',
  (source) => roomProblems([source]),
  [
    file('domain/a/b.ts', "import { x } from '../../application/core/derivedIds.ts';"),
    file('domain/a/b.ts', "import { hash } from 'node:crypto';"),
    file('domain/a/b.ts', "import type { Knex } from 'knex';"),
    file('domain/a/b.ts', "export * from '../../http/kernel/app.ts';"),
    file('domain/a/b.ts', "const x = await import('../../http/kernel/app.ts');"),
    file('domain/a/b.ts', "import {\n  x,\n  y,\n} from '../../infrastructure/z.ts';"),
    file('application/a.ts', "import { x } from '../infrastructure/log/log.ts';"),
    file('application/a.ts', "import { readFile } from 'node:fs/promises';"),
    file('application/a.ts', "import pg from 'pg';"),
    file('projections/a/b.ts', "import { x } from '../../application/core/commandHandler.ts';"),
    file('projections/a/b.ts', "import pg from 'pg';"),
    file('http/a.ts', "import { x } from '../projections/payments/projection.ts';"),
    file('http/a.ts', "import { x } from '../projections/payments/queries.ts';"),
    file('http/a.ts', "import { x } from '../infrastructure/log/log.ts';"),
    file('infrastructure/x/a.ts', "import { x } from '../../application/core/commandHandler.ts';"),
    file('infrastructure/x/a.ts', "import { x } from '../../http/kernel/app.ts';"),
    file('infrastructure/boot/a.ts', "import { x } from '../../test/world/postgres.ts';"),
    file('migrations/0001_a.ts', "import { x } from '../domain/aggregates.ts';"),
  ],
  [
    file('domain/a/b.ts', "import { x } from '../kernel/ids.ts';"),
    file('application/a.ts', "import { hash } from 'node:crypto';\nimport { x } from '../domain/aggregates.ts';"),
    file('projections/a/b.ts', "import type { Sql } from '../../application/ports/sql.ts';"),
    file('http/a.ts', "import express from 'express';\nimport { x } from '../application/ports/readModels/views.ts';"),
    file('infrastructure/x/a.ts', "import pg from 'pg';\nimport type { Sql } from '../../application/ports/sql.ts';"),
    file('infrastructure/boot/a.ts', "import { x } from '../../http/kernel/app.ts';"),
    file('test/a.ts', "import { x } from '../http/kernel/app.ts';"),
  ],
);
rule(
  'sealed modules',
  (source) => sealProblems([source]),
  [
    file('infrastructure/boot/a.ts', "import { x } from '../eventStore/eventStoreDb/store.ts';"),
    file('infrastructure/eventStore/a.ts', "import type { X } from './eventStoreDb/appender.ts';"),
    file('test/system/a.ts', "import { x } from '../../infrastructure/embeddedPostgres/launch.ts';"),
  ],
  [
    file('infrastructure/boot/a.ts', "import { x } from '../eventStore/eventStoreDb/eventStoreDb.ts';"),
    file('infrastructure/eventStore/eventStoreDb/a.ts', "import { x } from './store.ts';"),
    file(
      'test/infrastructure/embeddedPostgres/a.ts',
      "import { x } from '../../../infrastructure/embeddedPostgres/launch.ts';",
    ),
  ],
);
rule(
  'siblings',
  (source) => siblingProblems([source]),
  [
    file('domain/charge/a.ts', "import { transaction } from '../transaction/transaction.ts';"),
    file('domain/charge/a.ts', "import { exists } from '../payment/payment.ts';"),
    file('domain/charge/a.ts', "import type { PublicStatus } from '../wire/status.ts';"),
    file('domain/payment/a.ts', "import { publicStatus } from '../wire/status.ts';"),
    file('domain/kernel/a.ts', "import type { Charge } from '../charge/charge.ts';"),
    file('domain/pix/a.ts', "import * as charge from '../charge/charge.ts';"),
    file('domain/ledger/a.ts', "import { messagesOf } from '../wire/messages.ts';"),
    file('domain/unknown/a.ts', "import { fold } from '../kernel/decider.ts';"),
  ],
  [
    file('domain/charge/a.ts', "import type { Payer } from '../transaction/transaction.ts';"),
    file('domain/charge/a.ts', "import { type Fee, DEFAULT_FEES } from '../transaction/fees.ts';"),
    file('domain/charge/a.ts', "import { taxIdOf } from '../pix/taxId.ts';"),
    file('domain/payment/a.ts', "import { charge } from '../charge/charge.ts';"),
    file('domain/aggregates.ts', "import { ACCOUNT } from './account/account.ts';"),
  ],
);
rule(
  'texts',
  (source) => textProblems([source]),
  [
    file('domain/a.ts', 'const now = Date.now();'),
    file('application/a.ts', 'const clock = { now: Date.now };'),
    file('application/a.ts', 'const dice = Math.random();'),
    file('application/a.ts', "import { randomUUID } from 'node:crypto';"),
    file('application/a.ts', 'const since = performance.now();'),
    file('application/a.ts', 'setTimeout(close, 1_000);'),
    file('http/a.ts', 'setInterval(look, 1_000);'),
    file('projections/a.ts', 'SELECT FROM operations.scheduled_deliveries s'),
    file('infrastructure/a.ts', 'SELECT FROM rm_webhook_deliveries.deliveries d'),
    file('projections/a.ts', 'const now = new Date();'),
    file('http/a.ts', '    get address() {'),
    file('http/a.ts', '// TODO: the rest'),
    file('http/a.ts', '// FIXME'),
    file('infrastructure/a.ts', '// Good enough for now.'),
    file('test/a.test.ts', "it.only('x', () => undefined);"),
    file('test/a.test.ts', "describe.skip('x', () => undefined);"),
    file('test/a.test.ts', "xit('x', () => undefined);"),
    file('test/a.test.ts', 'await new Promise((go) => setTimeout(go, 100));'),
    file('test/a.test.ts', "import { setTimeout } from 'node:timers/promises';"),
    file('test/a.test.ts', 'await sleep(5);'),
  ],
  [
    file('domain/a.ts', 'const at = new Date(millis);'),
    file('infrastructure/boot/a.ts', 'const clock = { now: Date.now };'),
    file('http/a.ts', '  get address(): string {'),
    file('http/a.ts', 'setTimeout(close, 1_000);'),
    file('application/ports/repeating.ts', 'setInterval(look, 1_000);'),
    file('projections/a.ts', 'SELECT FROM operations.waiting_deliveries s'),
    file('test/a.test.ts', "import { setImmediate as turn } from 'node:timers/promises';"),
    file('test/world/receiver.ts', 'const timer = setTimeout(fail, 8_000);'),
    file('test/a.test.ts', "it('waits for nowhere', () => only(skip));"),
  ],
);
rule(
  'plain words',
  (source) => proseProblems([source], {}).filter((problem) => problem.startsWith(`${source.path}: `)),
  [
    file('domain/a.ts', '// Whoever reads it.'),
    file('domain/a.ts', '/** The account is\n * none. */'),
    file('http/a.ts', "const text = 'There is no more of it.';"),
    file('application/a.ts', '// The files of before.'),
    file('application/a.ts', 'const text = `merchants are told`;'),
    file('docs/a.md', 'It is for nobody\nelse.'),
    file('README.md', 'It takes no\nmore.'),
  ],
  [
    file('domain/a.ts', '// It takes no more than ten.'),
    file('domain/a.ts', 'const nobody = isNone;'),
    file('docs/a.md', '```python\nnow is None\n```'),
    file('test/a.ts', '// Whoever reads it.'),
  ],
);
describe('the list of remaining phrases', () => {
  const source = file('domain/a.ts', '// Whoever reads it, and nobody else.');
  it('allows as many phrases as listed', () => none(proseProblems([source], { domain: 2 })));
  it('allows no additional phrase', () => expect(proseProblems([source], { domain: 1 })).to.have.length(3));
  it('reports folders that have fewer phrases than listed', () =>
    expect(staleProse([source], { domain: 2, http: 1 })).to.have.length(1));
});
const eventSwitch = (end: string) =>
  `const f = () => {\n  switch (event.type) {\n    case 'A':\n      return 1;\n    default:\n${end}\n  }\n};\n`;
rule(
  'switches on an event type',
  (source) => totalityProblems([source], { 'domain/allowed.ts': 1 }),
  [
    file('domain/a.ts', eventSwitch('      return null;')),
    file('projections/a.ts', eventSwitch('')),
    file('test/a.ts', 'switch (type) {\n  default:\n    return 1;\n}'),
    file('application/a.ts', eventSwitch('      return more(event);')),
  ],
  [
    file('domain/a.ts', eventSwitch('      return event satisfies never;')),
    file('domain/a.ts', eventSwitch('      return ignore(state, event);')),
    file('domain/a.ts', eventSwitch('      return unreachable(event);')),
    file('domain/allowed.ts', eventSwitch('      return null;')),
    file('domain/a.ts', 'switch (event.kind) {\n  default:\n    return 1;\n}'),
    file('domain/a.ts', "switch (event.type) {\n  case 'A':\n    return 1;\n}"),
  ],
);
const TYPES = ['Made', 'Paid', 'Sent', 'Gone'];
const ignoringCases = (types: readonly string[], end: string) =>
  `switch (event.type) {\n${types.map((type) => `  case '${type}':\n`).join('  // Why.\n')}    ${end}\n}`;
const table = (types: readonly string[]) =>
  `reacting(GROUPS, {\n  reads: {\n${types.map((type) => `    ${type}: nothing,\n`).join('')}  },\n})`;
const silent = (types: readonly string[]) => `reading(GROUPS, { reads: ['a'], nothing: ['${types.join("', '")}'] })`;
rule(
  'ignored types',
  (source) => ignoredTypesProblems([source]),
  [
    file('application/a.ts', table(TYPES)),
    file('application/a.ts', table(['Made']) + table(TYPES)),
    file('projections/a.ts', silent(TYPES)),
    file('domain/a.ts', ignoringCases(TYPES, 'return null;')),
    file('projections/a.ts', ignoringCases(TYPES, 'return;')),
    file('application/a.ts', ignoringCases(TYPES, 'return [];')),
  ],
  [
    file('application/a.ts', table(TYPES.slice(1)) + table(TYPES.slice(1))),
    file('projections/a.ts', silent(TYPES.slice(1))),
    file('domain/a.ts', ignoringCases(TYPES.slice(1), 'return null;')),
    file('domain/a.ts', ignoringCases(TYPES, 'return state;')),
    file('test/a.ts', table(TYPES)),
  ],
);
rule(
  'widths',
  (source) => widthProblems([source]),
  [
    file('domain/wide.ts', 'x'.repeat(141)),
    file('domain/note.ts', `// "${'x'.repeat(141)}"`),
    file('domain/text.ts', `"${'x'.repeat(240)}"`),
  ],
  [
    file('domain/long.ts', 'x\n'.repeat(1_000)),
    file('domain/wide.ts', 'x'.repeat(140)),
    file('domain/text.ts', `"${'x'.repeat(238)}"`),
  ],
);
const functionOf = (lines: number, more = '') =>
  `const f = (x: number): number => {\n${'  x++;\n'.repeat(lines - 3)}${more}  return x;\n};\n`;
rule(
  'long functions',
  (source) => functionProblems([source], ['domain/allowed.ts']),
  [
    file('domain/arrow.ts', functionOf(71)),
    file('http/named.ts', functionOf(71).replace('const f = (x: number): number =>', 'function f(x: number): number')),
    file(
      'http/method.ts',
      `class A {\n  ${functionOf(71).replace('const f = (x: number): number =>', 'f(x: number): number')}}`,
    ),
    file('http/outer.ts', functionOf(40, functionOf(31))),
  ],
  [
    file('domain/a.ts', functionOf(70)),
    file('domain/b.ts', functionOf(70, '\n  // why\n  /**\n   * why\n   */\n')),
    file('domain/allowed.ts', functionOf(71)),
    file('test/a.ts', functionOf(71)),
  ],
);

describe('the rules about the project', () => {
  it('reject import cycles of any length, including type imports', () => {
    const ring = (last: string) => [
      file('domain/a.ts', "import { b } from './b.ts';\nimport { c } from './c.ts';"),
      file('domain/b.ts', "import { c } from './c.ts';"),
      file('domain/c.ts', last),
      file('domain/d.ts', "import { a } from './a.ts';"),
    ];
    expect(cycleProblems(ring("import { b } from './b.ts';"))).to.deep.equal([
      'domain/b.ts → domain/c.ts → domain/b.ts: these import each other',
    ]);
    expect(cycleProblems(ring("import type { A } from './a.ts';"))).to.deep.equal([
      'domain/a.ts → domain/c.ts → domain/a.ts: these import each other',
      'domain/b.ts → domain/c.ts → domain/a.ts → domain/b.ts: these import each other',
    ]);
    none(cycleProblems(ring("import { e } from './e.ts';")));
  });
  it('reject an outdated list of long functions', () => {
    none(staleLongFunctions([file('domain/a.ts', functionOf(71))], ['domain/a.ts']));
    expect(staleLongFunctions([file('domain/a.ts', functionOf(70))], ['domain/a.ts'])).to.have.length(1);
  });
  it('reject a file that nothing imports, or only dead files', () => {
    const files = [
      file(
        'test/a.test.ts',
        "import './used.ts';\nspawn('node', [fileURLToPath(new URL('./owner.ts', import.meta.url))]);",
      ),
      file('test/used.ts', ''),
      file('test/owner.ts', ''),
      file('infrastructure/boot/start.ts', "import { x } from '../x.ts';"),
      file('infrastructure/x.ts', ''),
      file('domain/dead.ts', "import './deader.ts';"),
      file('domain/deader.ts', ''),
      file('migrations/0001_events.ts', ''),
    ];
    const problems = deadFileProblems(files, { scripts: { start: 'exec node infrastructure/boot/start.ts' } });
    expect(problems.map((problem) => problem.split(':')[0])).to.deep.equal(['domain/dead.ts', 'domain/deader.ts']);
  });
  it('reject a gap, a duplicate number and a name without a number', () => {
    none(migrationProblems(['0002_b.ts', '0001_a.ts']));
    expect(migrationProblems(['0001_a.ts', '0003_c.ts'])).to.have.length(1);
    expect(migrationProblems(['0001_a.ts', '0001_b.ts'])).to.have.length(1);
    expect(migrationProblems(['0001_a.ts', 'b.ts'])).to.have.length(1);
  });
  it('reject a script that is missing, doesn’t begin with exec, or runs a missing file', () => {
    const program = 'exec node a.ts';
    const scripts = {
      start: program,
      test: 'exec mocha',
      check: 'tsc && biome check .',
      demo: program,
      bench: program,
      cli: program,
    };
    none(scriptProblems({ scripts }, () => true));
    expect(scriptProblems({ scripts: { ...scripts, start: 'node a.ts' } }, () => true)).to.deep.equal([
      'package.json: "start" must begin with exec',
    ]);
    expect(scriptProblems({ scripts: { ...scripts, cli: 'exec node b.ts' } }, (path) => path === 'a.ts')).to.deep.equal(
      ['package.json: "cli" runs b.ts, which does not exist'],
    );
    const { demo: _, ...without } = scripts;
    expect(scriptProblems({ scripts: without }, () => true)).to.deep.equal(['package.json has no script "demo"']);
  });
  it('reject a README that doesn’t say how to start or test', () => {
    none(readmeProblems('npm ci && npm start\nnpm ci && npm test'));
    expect(readmeProblems('npm ci && npm start')).to.have.length(1);
    expect(readmeProblems('')).to.have.length(2);
  });
  it('reject a variable that is read but not listed or explained, and the reverse', () => {
    const config = "read(env, 'PORT') env['NODE_ENV']";
    expect(variablesRead(config)).to.deep.equal(['NODE_ENV', 'PORT']);
    none(variableProblems(config, '# NODE_ENV=production\nPORT=3000\n', '| `PORT` | x |\n`NODE_ENV=production`'));
    expect(variableProblems(config, 'PORT=1\n', '`PORT` `NODE_ENV`')).to.deep.equal([
      '.env.example does not list NODE_ENV',
    ]);
    expect(variableProblems(config, 'PORT=1\nNODE_ENV=\n', '`PORT`')).to.deep.equal([
      'README.md does not name NODE_ENV',
    ]);
    expect(variableProblems(config, 'PORT=1\nNODE_ENV=\nOLD=\n', '`PORT` `NODE_ENV`')).to.deep.equal([
      '.env.example lists OLD, which nothing reads',
    ]);
    expect(
      variableProblems(config, 'PORT=1\nNODE_ENV=\n', '| `PORT` |\nNODE_ENV, \nCHARGE=$(node -p 1)\nOLD=1 npm start'),
    ).to.deep.equal(['README.md sets OLD, which nothing reads']);
  });
  it('reject an outdated list of open switches', () => {
    const allowed = { 'domain/a.ts': 1 };
    none(staleOpenDefaults([file('domain/a.ts', eventSwitch('      return null;'))], allowed));
    expect(
      staleOpenDefaults([file('domain/a.ts', eventSwitch('      return event satisfies never;'))], allowed),
    ).to.have.length(1);
    expect(staleOpenDefaults([], allowed)).to.have.length(1);
  });
  it('reject an outdated list of timers', () => {
    expect(staleTimers([]).length).to.be.greaterThan(0);
  });
  it('detect imports of every kind', () => {
    const text =
      "import type { A } from './a.ts';\nimport { type B, c as d } from './b.ts';\nimport './c.ts';\nimport e from 'pg';\nexport { f } from '../f.ts';";
    expect(importsOf(file('http/x/y.ts', text))).to.deep.equal([
      { target: 'http/x/a.ts', isOurs: true, values: [] },
      { target: 'http/x/b.ts', isOurs: true, values: ['c'] },
      { target: 'http/x/c.ts', isOurs: true, values: ['*'] },
      { target: 'pg', isOurs: false, values: ['*'] },
      { target: 'http/f.ts', isOurs: true, values: ['f'] },
    ]);
  });
});
