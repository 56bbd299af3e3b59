// `demo --live`, run as a newcomer runs it, against a running program.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { demoFile, readDemoAccount } from '../../../infrastructure/demo/demoAccount.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../../world/program.ts';

const CLI = join(import.meta.dirname, '../../../infrastructure/boot/cli.ts');

interface Connection {
  readonly id: string;
  readonly status: string;
}

describe('demo --live', () => {
  let dataDir: string;
  let program: Program;
  let accountId: string;
  let env: Record<string, string>;
  before(async () => {
    dataDir = await newDataDir();
    const port = await freePort();
    program = await new Program({ dataDir, port }).ready();
    ({ accountId } = await readDemoAccount(demoFile(dataDir)));
    env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, PORT: String(port) };
  });
  after(async () => {
    await program.stop();
    await removeDataDir(dataDir);
  });

  /** Starts a tour in a process group of its own, as a terminal does, and waits until it created its live charge. */
  const tour = async (): Promise<ChildProcess> => {
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const started = spawn(process.execPath, [CLI, 'demo', '--live'], { detached: true, env, stdio: [...stdio] });
    for await (const line of createInterface({ input: started.stdout })) if (line.startsWith('2. ')) break;
    return started;
  };
  const statuses = async () =>
    ((await cli(dataDir, ['provider', 'list'])) as { connections: readonly Connection[] }).connections.map(
      ({ status }) => status,
    );
  const destinations = async () =>
    ((await cli(dataDir, ['account', 'settings', accountId])) as { settings: { cashoutDestinations: unknown } })
      .settings.cashoutDestinations;

  it('disables its connection and restores the cash-out destinations when it is interrupted', async () => {
    const before = await destinations();
    const started = await tour();
    process.kill(-(started.pid as number), 'SIGINT');
    const [code] = await once(started, 'exit');
    expect([code, await statuses(), await destinations()]).to.deep.equal([1, ['disabled'], before]);
  });

  it('succeeds after a tour that was killed, and disables the connection of both', async () => {
    const started = await tour();
    process.kill(-(started.pid as number), 'SIGKILL');
    await once(started, 'exit');
    expect(await statuses()).to.deep.equal(['disabled', 'enabled']);
    const { report } = (await cli(dataDir, ['demo', '--live'], env)) as { report: { difference: number } };
    expect([report.difference, await statuses()]).to.deep.equal([0, ['disabled', 'disabled', 'disabled']]);
  });
});
