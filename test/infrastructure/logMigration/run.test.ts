// `npm run migrate-events`: its arguments, output and exit codes.
import { expect } from 'chai';
import { complete } from '../../../infrastructure/cli/command.ts';
import { runCli } from '../../../infrastructure/cli/run.ts';
import { runMigrateEvents } from '../../../infrastructure/logMigration/migrateEvents.ts';
import { commands } from '../../../infrastructure/operations/terminal.ts';
import { leaderSessions } from '../../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig, PgSession } from '../../../infrastructure/postgres/session.ts';
import { MovingWorld } from './support.ts';

describe('npm run migrate-events', function suite() {
  let world: MovingWorld;
  before(async () => {
    world = await MovingWorld.open();
  });
  beforeEach(() => world.reset());
  after(() => world.close());

  const run = async (words: readonly string[], env: Record<string, string> = {}, stop = new AbortController()) => {
    await world.leave();
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runMigrateEvents(
      words,
      { DATABASE_URL: world.database.connectionString, ...env },
      { write: (text) => out.push(text) },
      { write: (text) => err.push(text) },
      stop.signal,
      () => 0, // keeps progress figures out of the output, which on a slow machine appear once a second
    );
    return { code, out: out.join(''), err: err.join('') };
  };
  const url = () => world.server.connectionString;
  const fill = () => world.with(({ postgres }) => world.fill(postgres, 0, 6));

  it('prints its usage', async () => {
    const { code, out, err } = await run(['--help']);
    expect([code, err]).to.deep.equal([0, '']);
    for (const option of ['--to', '--from', '--unseal', '--json']) expect(out).to.include(option);
  });

  it('rejects invalid arguments in one line with exit code 2', async () => {
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /^quita: give one of --to, --from and --unseal/],
      [['--json'], /^quita: give one of --to/],
      [['--to', url(), '--from', url()], /^quita: give one of --to/],
      [['--to', url(), '--unseal'], /^quita: give one of --to/],
      [['--nonsense'], /^quita: unknown option '--nonsense' \(npm run migrate-events -- --help explains it\)\n$/],
      [['to'], /^quita: too many arguments. Expected 0 arguments but got 1: to. /],
      [['--form', url()], /^quita: unknown option '--form' \(Did you mean --from\?\)\n$/],
      [
        ['--to', 'esdb://db.example.com?tls=false'],
        /^quita: --to must use TLS to another host: [^\n]*ALLOW_PLAIN_CONNECTIONS/,
      ],
      [
        ['--to', 'postgres://x'],
        /^quita: --to must be an EventStoreDB connection string: the connection string must start with esdb:/,
      ],
      [
        ['--from', 'http://x'],
        /^quita: --from must be an EventStoreDB connection string: the connection string must start with esdb:/,
      ],
    ];
    for (const [words, line] of wrong) {
      const { code, out, err } = await run(words);
      expect([code, out]).to.deep.equal([2, '']);
      expect(err)
        .to.match(line)
        .and.to.match(/^[^\n]+\n$/);
    }
  });

  it('creates no database if there is none', async () => {
    const env = { DATABASE_URL: '', DATA_DIR: '/nonexistent/quita' };
    expect(await run(['--to', url()], env)).to.deep.equal({
      code: 2,
      out: '',
      err: 'quita: no database in /nonexistent/quita: set DATA_DIR or DATABASE_URL\n',
    });
  });

  it('moves nothing while a process of the program is connected', async () => {
    const config = { ...connectionConfig(world.database.connectionString, 'quita'), application_name: 'quita' };
    const api = await PgSession.open(config);
    const { code, err } = await run(['--to', url()]);
    await api.close();
    expect(err).to.equal('quita: stop the program before its event log moves: "quita" still connected\n');
    expect(code).to.equal(2);
    expect((await run(['--to', url()])).code).to.equal(0);
  });

  it('moves nothing while a process leads', async () => {
    const worker = await leaderSessions(connectionConfig(world.database.connectionString, 'quita'))('reactor');
    expect(await worker.tryLead('reactor')).to.equal(true);
    const { code, err } = await run(['--to', url()]);
    await worker.close();
    expect(err).to.equal(
      'quita: stop the program before its event log moves: "quita leases", "quita reactor" still connected\n',
    );
    expect(code).to.equal(2);
  });

  it('neither prints nor stores a password', async () => {
    await fill();
    const secret = url().replace('esdb://', 'esdb://quita:hunter2@');
    const { code, out } = await run(['--to', secret]);
    expect(code).to.equal(0);
    expect(out.endsWith(`Now start the program with EVENTSTORE_URL=${url()}\n`)).to.equal(true);
    const use = await world.with(({ postgres }) => postgres.state());
    expect(`${out}${JSON.stringify(use)}`).to.not.include('hunter2');
  });

  it('says how to continue when it is stopped by a signal, and continues in the next run', async () => {
    await fill();
    const stop = new AbortController();
    stop.abort();
    const { code, err } = await run(['--to', url()], {}, stop);
    expect(err).to.equal('quita: stopped. Run the same command again to continue, or cancel the move with --unseal\n');
    expect(code).to.equal(1);
    const { out, ...rest } = await run(['--to', url(), '--json']);
    expect(rest).to.deep.equal({
      code: 0,
      err: 'The log is sealed and rejects further events.\nThe copy is identical to the log, event by event.\nThe checkpoints of read models and processes now refer to the copy.\n',
    });
    expect(JSON.parse(out)).to.deep.equal({
      wasDone: false,
      compared: 6,
      copied: 6,
      checkpoints: 0,
      next: `start the program with EVENTSTORE_URL=${url()}`,
    });
  });

  it('cancels a move once, and not after it has finished', async () => {
    await fill();
    const stop = new AbortController();
    stop.abort();
    await run(['--to', url()], {}, stop);
    expect(await run(['--unseal'])).to.deep.equal({
      code: 0,
      out: 'The seal was removed and the move cancelled. Now start the program without EVENTSTORE_URL\n',
      err: '',
    });
    expect((await run(['--unseal', '--json'])).out).to.equal(
      '{"wasSealed":false,"next":"start the program without EVENTSTORE_URL"}\n',
    );
    expect((await run(['--to', url()])).code).to.equal(0);
    const { code, err } = await run(['--unseal']);
    expect(code).to.equal(2);
    expect(err).to.match(/^quita: the move can no longer be cancelled: [^\n]+\n$/);
    expect(await run(['--unseal', '--from', url()])).to.deep.equal({
      code: 0,
      out: `The log was not sealed; nothing was changed. Now start the program with EVENTSTORE_URL=${url()}\n`,
      err: '',
    });
  });

  it('leaves a log that other tools reject in one line', async () => {
    expect((await run(['--to', url()])).code).to.equal(0);
    const said: string[] = [];
    const out = { write: (text: string) => said.push(text) };
    const env = { DATABASE_URL: world.database.connectionString };
    expect(await runCli(commands.map(complete), ['projections', 'status'], env, out, out)).to.equal(2);
    expect(said).to.deep.equal([
      `quita: this event log has moved to ${url()}: start the program with EVENTSTORE_URL set to it\n`,
    ]);
  });
});
