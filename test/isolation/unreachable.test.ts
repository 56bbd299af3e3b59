// Stores that are unreachable, or that accept a connection and stay silent: every program and command prints one line, exits with code 2
// within seconds and prints no stack trace.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CompleteCommand } from '../../infrastructure/cli/command.ts';
import { COMMANDS as ALL } from '../../infrastructure/cli/commands.ts';
import { runCli } from '../../infrastructure/cli/run.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { emptyDatabase, migratedDatabase, type TestDatabase } from '../world/postgres.ts';
import { freePort } from '../world/program.ts';

const BOOT = join(import.meta.dirname, '../../infrastructure/boot');
const SECRETS_KEY = randomBytes(32).toString('base64');
const PASSWORD = 'geheimes-Wort';
/** The timeout for a silent server is 4 s; the rest is for starting on a busy machine. */
const SECONDS_MAX = 20;

const COMMANDS = ALL.filter(({ isLocal }) => !isLocal);
/** Returns the command with its minimum of arguments. */
const wordsOf = ({ name, args, options }: CompleteCommand): string[] => [
  ...name.split(' '),
  ...args.map(({ choices }) => choices?.[0] ?? '00000000000000000000000000'),
  ...Object.entries(options).flatMap(([option, { required, choices }]) => {
    if (option === 'account') return ['--account', `acct_${'0'.repeat(26)}`]; // Also required by some roles of users.
    return required ? [`--${option}`, choices?.[0] ?? 'x@example.com'] : [];
  }),
];

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly seconds: number;
}
const run = async (words: readonly string[], env: Record<string, string>): Promise<Ended> => {
  const startedAt = performance.now();
  const [file = '', ...args] = words;
  const ports = { PORT: String(await freePort()), DATA_DIR: join(tmpdir(), 'quita-unreachable') };
  const program = spawn(process.execPath, [join(BOOT, file), ...args], {
    env: { PATH: process.env['PATH'] ?? '', SECRETS_KEY, ...ports, ...env },
  });
  let output = '';
  for (const stream of [program.stdout, program.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const code = await new Promise<number | null>((resolve) => program.once('close', resolve));
  return { code, output, seconds: (performance.now() - startedAt) / 1_000 };
};

const AT_ONCE = 20;

const expectOneLine = ({ code, output }: Pick<Ended, 'code' | 'output'>, says: RegExp, who: string) => {
  expect(code, `${who}: ${output}`).to.equal(2);
  expect(output, who)
    .to.match(/^(quita: |BAD {3}database {19})[^\n]+\n$/)
    .and.match(says);
  expect(output, who).to.not.contain(PASSWORD);
};

describe('a store that does not answer', function suite() {
  let silent: Server;
  let database: TestDatabase;
  let another: TestDatabase;
  /** This server requires passwords, unlike the one of other tests. */
  let guarded: EmbeddedPostgres;
  let dataDir: string;
  let urls: Readonly<Record<string, string>>;
  const sockets: Socket[] = [];
  before(async () => {
    silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    database = await migratedDatabase();
    another = await migratedDatabase();
    const without = await emptyDatabase();
    await without.drop();
    dataDir = await mkdtemp(join(tmpdir(), 'quita-unreachable-'));
    guarded = await startEmbeddedPostgres({ dataDir });
    const wrong = new URL(guarded.connectionString);
    wrong.password = PASSWORD;
    urls = {
      refused: `postgres://ana:${PASSWORD}@127.0.0.1:1/quita`,
      'no host': `postgres://ana:${PASSWORD}@nowhere.invalid/quita?sslmode=require`,
      'black hole': `postgres://ana:${PASSWORD}@192.0.2.1/quita?sslmode=require`,
      silence: `postgres://ana:${PASSWORD}@127.0.0.1:${port}/quita`,
      'no socket': `postgres://ana:${PASSWORD}@/quita?host=/nowhere`,
      'wrong password': wrong.href,
      'no database': without.connectionString,
    };
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
    await database.drop();
    await another.drop();
    await guarded.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const SAYS: Readonly<Record<string, RegExp>> = {
    refused: /DATABASE_URL: nothing listens at 127\.0\.0\.1:\d+\n$/,
    // The resolver may be slow when every command uses it at once.
    'no host':
      /DATABASE_URL: (the host of nowhere\.invalid:5432 has no address \(E\w+\)|no answer from \S+ within 4 s)\n$/,
    'black hole':
      /DATABASE_URL: (no answer from 192\.0\.2\.1:5432 within 4 s|nothing listens at 192\.0\.2\.1:5432|the database at 192\.0\.2\.1:5432 can't be used: .*)\n$/,
    silence: /DATABASE_URL: no answer from 127\.0\.0\.1:\d+ within 4 s\n$/,
    'no socket': /DATABASE_URL: there is no socket at \/nowhere:5432\n$/,
    'wrong password':
      /DATABASE_URL: the database at \S+:\d+ can't be used: password authentication failed for user "\w+"\n$/,
    'no database': /DATABASE_URL: the database at \S+:\d+ can't be used: database "\w+" does not exist\n$/,
  };
  const MIGRATION = ['migrateEvents.ts', '--to', 'esdb://127.0.0.1:1?tls=false'];
  const SOME = [['start.ts'], MIGRATION];
  const ROLES = ['api', 'projector', 'worker'].map((role) => ['start.ts', role]);
  const OTHERS = [...ROLES, ['cli.ts', 'doctor'], ['cli.ts', 'held', 'list']];

  for (const [kind, says] of Object.entries(SAYS))
    it(`(${kind}) makes programs exit with code 2 and one line within seconds`, async () => {
      const env = { DATABASE_URL: urls[kind] as string };
      const ended = await Promise.all(SOME.map((words) => run(words, env)));
      for (const [i, one] of ended.entries()) {
        expectOneLine(one, says, `${SOME[i]}`);
        expect(one.seconds, `${SOME[i]}`).to.be.below(SECONDS_MAX);
      }
    });

  it('(silence) makes all other programs exit with code 2 and one line', async () => {
    const ended = await Promise.all(OTHERS.map((words) => run(words, { DATABASE_URL: urls['silence'] as string })));
    for (const [i, one] of ended.entries()) expectOneLine(one, SAYS['silence'] as RegExp, `${OTHERS[i]}`);
  });

  it('is not contacted for an unknown role', async () => {
    const ended = await run(['start.ts', 'everything'], { DATABASE_URL: urls['silence'] as string });
    expectOneLine(
      ended,
      /^quita: there is no role everything; the roles are all, api, projector, worker\n$/,
      'everything',
    );
  });

  it('is not contacted by the two commands for the demo account, which say what they need', async () => {
    const env = { DATABASE_URL: urls['silence'] as string };
    const [demo, listen] = await Promise.all([run(['cli.ts', 'demo'], env), run(['cli.ts', 'listen'], env)]);
    expectOneLine(demo, /^quita: DATABASE_URL must not be set: the demo/, 'demo');
    expectOneLine(listen, /^quita: API_KEY must be set to a key of the account: with DATABASE_URL there/, 'listen');
  });

  for (const kind of Object.keys(SAYS))
    it(`(${kind}) makes every command exit with code 2 and one line`, async () => {
      const ask = async (command: CompleteCommand) => {
        let output = '';
        const out = { write: (text: string) => (output += text) };
        const code = await runCli(COMMANDS, wordsOf(command), { DATABASE_URL: urls[kind] as string }, out, out);
        return { code, output };
      };
      // Limited to the number of connections that a database accepts.
      for (let from = 0; from < COMMANDS.length; from += AT_ONCE) {
        const some = COMMANDS.slice(from, from + AT_ONCE);
        const ended = await Promise.all(some.map(ask));
        for (const [i, one] of ended.entries()) expectOneLine(one, SAYS[kind] as RegExp, some[i]?.name ?? '');
      }
    });

  it('(an event store) makes programs exit with code 2 and one line', async () => {
    const { port } = silent.address() as AddressInfo;
    const stores = [
      `esdb://ana:${PASSWORD}@127.0.0.1:${port}?tls=false`,
      `esdb://ana:${PASSWORD}@127.0.0.1:1?tls=false`,
    ];
    const asked = stores.flatMap((url) =>
      [['start.ts'], ['cli.ts', 'events', 'tail']].map((words) => ({
        words,
        env: { DATABASE_URL: database.connectionString, EVENTSTORE_URL: url },
      })),
    );
    // This one must be alone on its database.
    asked.push({ words: MIGRATION, env: { DATABASE_URL: another.connectionString, EVENTSTORE_URL: '' } });
    const ended = await Promise.all(asked.map(({ words, env }) => run(words, env)));
    for (const [i, one] of ended.entries()) {
      expectOneLine(one, /^quita: the event store can't be reached: /, JSON.stringify(asked[i]));
    }
  });
});
