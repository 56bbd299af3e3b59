// Runs migrate-events on the embedded database, as an operator would.
import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { type ServerProcess, startServerProcess } from '../support/eventStoreDb/serverProcess.ts';
import { freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';

describe('npm run migrate-events on the embedded database', function suite() {
  let server: ServerProcess;
  let dataDir: string;
  let port: number;
  let program: Program;
  before(async () => {
    server = await startServerProcess();
    dataDir = await newDataDir();
    port = await freePort();
  });
  after(async () => {
    await program.kill9();
    await server.stop();
    await removeDataDir(dataDir);
  });

  const start = (env: Record<string, string> = {}): Program => {
    program = new Program({ dataDir, port, env });
    return program;
  };
  const migrate = (): Promise<{ code: number; out: string; err: string }> =>
    new Promise((resolve) => {
      const words = ['run', '-s', 'migrate-events', '--', '--to', server.connectionString];
      const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', DATA_DIR: dataDir };
      execFile('npm', words, { cwd: `${import.meta.dirname}/../..`, env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });

  it('refuses to run while the program runs, and leaves it alone', async () => {
    await start().ready();
    const { code, out, err } = await migrate();
    expect([code, out]).to.deep.equal([2, '']);
    expect(err).to.match(/^quita: .* is in use by another [^\n]+\n$/);
    expect((await fetch(`${program.baseUrl}/health/ready`)).status).to.equal(200);
    expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('moves the log of a stopped program, which then runs on EventStoreDB', async () => {
    const { code, out, err } = await migrate();
    expect([code, err]).to.deep.equal([0, '']);
    expect(out.endsWith(`Now start the program with EVENTSTORE_URL=${server.connectionString}\n`)).to.equal(true);
    await start({ EVENTSTORE_URL: server.connectionString }).ready();
    const { testApiKey: apikey } = await program.demo();
    expect((await fetch(`${program.baseUrl}/v1/wallets`, { headers: { apikey } })).status).to.equal(200);
  });
});
