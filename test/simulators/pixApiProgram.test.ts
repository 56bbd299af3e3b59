// Runs `npm run simulator` as a program: what it prints and what it stores in its folder.
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Agent, request } from 'undici';

const PROGRAM = join(import.meta.dirname, 'pixApi/simulator.ts');
const FREE_PORTS = ['--port', '0', '--control-port', '0'];

const run = (...options: readonly string[]) => {
  const process_ = spawn(process.execPath, [PROGRAM, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const exited = new Promise<number | null>((resolve) => process_.once('close', resolve));
  const ready = new Promise<string>((resolve) => {
    for (const stream of [process_.stdout, process_.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
        if (output.includes('/pay -d')) resolve(output);
      });
    void exited.then(() => resolve(output));
  });
  return { ready, exited, kill: () => process_.kill('SIGTERM') };
};

describe('npm run simulator', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quita-simulator-test-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('prints a command that connects Quita, with working files, and keeps the files for the next start', async () => {
    const first = run('--data-dir', folder, ...FREE_PORTS);
    const output = await first.ready;
    const [, api = ''] = /API +(\S+)/.exec(output) ?? [];
    const files = { ca: join(folder, 'ca.pem'), cert: join(folder, 'client.pem'), key: join(folder, 'client.key') };
    const secretFile = join(folder, 'client-1.secret');
    expect(output).to.include(
      `npm run cli -- provider add --kind pix --preset generic --name simulator-1 --base-url ${api} --token-url ${api}/oauth/token ` +
        `--client-id simulated-client-1 --client-secret-file ${secretFile} --certificate ${files.cert} --private-key ${files.key} ` +
        `--ca ${files.ca} --pix-key 5f84a4c5-c5cb-4599-9f13-000000000001 --allow-private`,
    );
    const [ca, cert, key, secret] = await Promise.all(
      [files.ca, files.cert, files.key, secretFile].map((path) => readFile(path, 'utf8')),
    );
    const dispatcher = new Agent({ connect: { ca, cert, key } });
    const answer = await request(`${api}/oauth/token`, {
      method: 'POST',
      dispatcher,
      headers: { authorization: `Basic ${Buffer.from(`simulated-client-1:${secret}`).toString('base64')}` },
      body: 'grant_type=client_credentials',
    });
    expect([answer.statusCode, Object.keys((await answer.body.json()) as object)]).to.deep.equal([
      200,
      ['access_token', 'token_type', 'expires_in', 'scope'],
    ]);
    await dispatcher.destroy();
    first.kill();
    expect(await first.exited).to.equal(0);

    const second = run('--data-dir', folder, ...FREE_PORTS);
    await second.ready;
    second.kill();
    await second.exited;
    expect(await readFile(files.ca, 'utf8')).to.equal(ca);
    expect(await readFile(secretFile, 'utf8')).to.equal(secret);
    const modes = await Promise.all(
      (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).mode & 0o777),
    );
    expect(modes).to.deep.equal(Array(6).fill(0o600));
  });
  it('supports plain http, the dialect of Efí and several clients', async () => {
    const { ready, kill, exited } = run(
      '--data-dir',
      folder,
      '--tls',
      'none',
      '--dialect',
      'efi',
      '--clients',
      '2',
      ...FREE_PORTS,
    );
    const commands = (await ready).split('\n').filter((line) => line.includes('provider add'));
    expect(commands).to.have.length(2);
    expect(commands[1]).to.match(/--preset efi --name simulator-2 --base-url http:.* --client-id simulated-client-2 /);
    expect(commands[1]).to.match(/\.secret --pix-key 5f84a4c5-c5cb-4599-9f13-000000000002 --allow-private$/);
    kill();
    expect(await exited).to.equal(0);
  });
  it('rejects invalid option values', async () => {
    for (const [option, value, text] of [
      ['--tls', 'some', '--tls must be one of: mutual, server, none.'],
      ['--port', '70000', '--port must be an integer up to 65535.'],
    ] as const) {
      const { ready, exited } = run('--data-dir', folder, option, value);
      expect(await ready).to.include(text);
      expect(await exited).to.equal(1);
    }
  });
});
