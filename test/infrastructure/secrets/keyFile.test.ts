// The secrets keys of a process: from the environment, or from the data directory of the embedded default (rule S6).
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig, loadToolConfig } from '../../../infrastructure/config/config.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { keyringOf, knownKeyring } from '../../../infrastructure/secrets/secretsKey.ts';

const [OLD, NEW] = [3, 7].map((step) => Buffer.from(Array.from({ length: 32 }, (_, n) => (n * step) % 256))) as [
  Buffer,
  Buffer,
];
const text = (key: Buffer): string => key.toString('base64');
const idsOf = (...keys: [Buffer, ...Buffer[]]) => new SecretsKeyring(keys).ids;

describe('the secrets keys of a process', () => {
  let dataDir: string;
  let file: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'quita-keys-'));
    file = join(dataDir, 'secrets.key');
  });
  afterEach(() => rm(dataDir, { recursive: true }));
  const ids = async (env: Record<string, string>) => (await keyringOf(loadConfig({ DATA_DIR: dataDir, ...env }))).ids;

  it('are created once in a private file if there are none, but not by a tool', async () => {
    expect(await knownKeyring(loadToolConfig({ DATA_DIR: dataDir }))).to.equal(null);
    const made = await ids({});
    expect([made.length, await ids({}), (await stat(file)).mode & 0o777]).to.deep.equal([1, made, 0o600]);
    expect((await knownKeyring(loadToolConfig({ DATA_DIR: dataDir })))?.ids).to.deep.equal(made);
  });
  it('come from the environment before the file; the first one seals', async () => {
    const env = { SECRETS_KEY: text(NEW), SECRETS_KEY_FALLBACKS: text(OLD) };
    expect(await ids(env)).to.deep.equal(idsOf(NEW, OLD));
    expect(await readFile(file, 'utf8').catch(() => 'none')).to.equal('none');
  });
  it('are the lines of the file, of which the first one seals', async () => {
    await writeFile(file, `${text(NEW)}\n${text(OLD)}\n`);
    expect(await ids({})).to.deep.equal(idsOf(NEW, OLD));
  });
  for (const content of ['', 'x', `${text(OLD)}\nx`, `${text(OLD)}\n\n${text(NEW)}`, text(OLD).slice(4)])
    it(`are rejected if the file contains ${JSON.stringify(content).slice(0, 20)}…`, async () => {
      await writeFile(file, content);
      const failure = await ids({}).catch((error: Error) => error.message);
      expect(failure).to.match(
        /^SECRETS_KEY is not set and \S+ does not contain 32 bytes in base64: restore that file$/,
      );
    });
  it('come only from the environment with an external database', async () => {
    await writeFile(file, text(OLD));
    const tool = loadToolConfig({ DATA_DIR: dataDir, DATABASE_URL: 'postgres://localhost/q' });
    expect(await knownKeyring(tool)).to.equal(null);
  });
});
