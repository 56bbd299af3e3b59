// `secrets status`, `secrets rotate` and doctor during a rotation of SECRETS_KEY (rule S6).
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import type { EndpointId, SecondFactorId, UserId } from '../../../domain/kernel/ids.ts';
import { COMMANDS } from '../../../infrastructure/cli/commands.ts';
import { runCli } from '../../../infrastructure/cli/run.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { secondFactors } from '../../../infrastructure/secrets/secondFactors.ts';
import { isRightKeyring } from '../../../infrastructure/secrets/secretsKey.ts';
import { webhookSecrets } from '../../../infrastructure/secrets/webhookSecrets.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const text = (key: Buffer): string => key.toString('base64');
const [OLD_ID, NEW_ID] = [OLD, NEW].map((key) => new SecretsKeyring([key]).sealingId) as [string, string];
const BEFORE = { SECRETS_KEY: text(OLD), SECRETS_KEY_FALLBACKS: text(NEW) };
const DURING = { SECRETS_KEY: text(NEW), SECRETS_KEY_FALLBACKS: text(OLD) };
const AFTER = { SECRETS_KEY: text(NEW) };

const CLOCK = { now: () => Date.parse('2026-11-21T12:00:15.000Z') };
const FACTOR = {
  secondFactorId: '1'.repeat(26) as SecondFactorId,
  userId: '2'.repeat(26) as UserId,
  label: 'ana@example.com',
};

describe('the secrets commands', () => {
  let database: TestDatabase;
  /** The code of the sealed second factor. */
  let totpCode: string;
  beforeEach(async () => {
    database = await migratedDatabase();
    const pool = new PgPool(connectionConfig(database.connectionString, 'test'), 1, () => undefined);
    const keyring = new SecretsKeyring([OLD]);
    await isRightKeyring(pool, keyring);
    for (const version of [1, 2])
      await webhookSecrets(pool, keyring).keep('0'.repeat(26) as EndpointId, version, 'a'.repeat(64));
    const { secret } = await secondFactors(pool, keyring, CLOCK).begin(FACTOR);
    totpCode = new TOTP({ secret }).generate({ timestamp: CLOCK.now() });
    await pool.close();
  });
  afterEach(() => database.drop());

  const typed = async (words: string, env: Record<string, string>) => {
    let [out, err] = ['', ''];
    const code = await runCli(
      COMMANDS,
      words.split(' '),
      { DATABASE_URL: database.connectionString, ...env },
      { write: (more: string) => (out += more) },
      { write: (more: string) => (err += more) },
    );
    return { code, out, err };
  };
  const doctorOn = async (env: Record<string, string>) => {
    const { out } = await typed('doctor --json', env);
    const { findings } = JSON.parse(out) as { findings: { check: string; isGood: boolean; says: string }[] };
    const found = findings.find(({ check }) => check === 'secrets key');
    return [found?.isGood, found?.says];
  };
  const key = (keyId: string, use: string, secrets: number, isChecked: boolean) => ({ keyId, use, secrets, isChecked });

  it('show the number of secrets per key before, during and after a rotation', async () => {
    const keys = async (env: Record<string, string>) => {
      const { code, out } = await typed('secrets status --json', env);
      return [code, (JSON.parse(out) as { keys: unknown }).keys];
    };
    expect(await keys(BEFORE)).to.deep.equal([0, [key(OLD_ID, 'seals', 3, true), key(NEW_ID, 'opens', 0, false)]]);
    expect(await keys(DURING)).to.deep.equal([0, [key(NEW_ID, 'seals', 0, false), key(OLD_ID, 'opens', 3, true)]]);
    expect(await keys(AFTER)).to.deep.equal([1, [key(NEW_ID, 'seals', 0, false), key(OLD_ID, 'missing', 3, true)]]);
    await typed('secrets rotate', DURING);
    expect(await keys(DURING)).to.deep.equal([0, [key(NEW_ID, 'seals', 3, true), key(OLD_ID, 'opens', 0, false)]]);
    expect(await keys(AFTER)).to.deep.equal([0, [key(NEW_ID, 'seals', 3, true)]]);
    const { out } = await typed('secrets status', DURING);
    expect(out).to.match(
      new RegExp(`${NEW_ID} +seals +3 secrets +needed\\n.*${OLD_ID} +opens +0 secrets +may be removed`),
    );
  });
  it('reseal all secrets once, with an entry in the security log', async () => {
    const first = await typed('secrets rotate', DURING);
    expect([first.code, first.out]).to.deep.equal([
      0,
      `3 secrets were resealed with ${NEW_ID}; no other key is needed\n`,
    ]);
    expect(first.err).to.contain('secrets rotate');
    const again = await typed('secrets rotate', DURING);
    expect([again.code, again.out.slice(0, 9)]).to.deep.equal([0, '0 secrets']);
    const pool = new PgPool(connectionConfig(database.connectionString, 'test'), 1, () => undefined);
    const keyring = new SecretsKeyring([NEW]);
    expect(await secondFactors(pool, keyring, CLOCK).useCode(FACTOR.secondFactorId, totpCode)).to.equal(true);
    expect(await webhookSecrets(pool, keyring).find('0'.repeat(26) as EndpointId, 2)).to.equal('a'.repeat(64));
    await pool.close();
  });
  it('change nothing if an old key is missing, and require SECRETS_KEY', async () => {
    const { code, err } = await typed('secrets rotate', AFTER);
    expect([code === 0, err]).to.satisfy(([isGood, said]: [boolean, string]) => !isGood && said.includes(OLD_ID));
    expect((await typed('secrets status --json', DURING)).out).to.contain('"secrets":3');
    for (const command of ['secrets status', 'secrets rotate']) {
      const unset = await typed(command, {});
      expect([unset.code, unset.err.trimEnd().split('\n').at(-1)]).to.deep.equal([
        2,
        'quita: set SECRETS_KEY and SECRETS_KEY_FALLBACKS to the values that the programs use',
      ]);
    }
  });
  it('are suggested by doctor while secrets are sealed with an old key', async () => {
    expect(await doctorOn(BEFORE)).to.deep.equal([true, 'it opens the secrets in the database']);
    expect(await doctorOn(DURING)).to.deep.equal([
      true,
      '3 secrets are still sealed with an old key: npm run cli -- secrets rotate',
    ]);
    expect((await doctorOn(AFTER))[0]).to.equal(false);
    await typed('secrets rotate', DURING);
    expect(await doctorOn(AFTER)).to.deep.equal([true, 'it opens the secrets in the database']);
  });
});
