// Production rejects a SECRETS_KEY that follows a pattern (rule S6).
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { loadConfig } from '../../../infrastructure/config/config.ts';
import { isPredictable } from '../../../infrastructure/secrets/predictableKey.ts';

const saidOf = (env: Record<string, string>): string => {
  try {
    loadConfig(env);
    return 'taken';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('SECRETS_KEY in production', () => {
  const bytes = (of: (n: number) => number) => Buffer.from(Array.from({ length: 32 }, (_, n) => of(n)));
  const PREDICTABLE: { readonly [name: string]: Buffer } = {
    'AAECAw…': Buffer.from('AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', 'base64'),
    'all equal': Buffer.alloc(32, 0xab),
    zeros: Buffer.alloc(32),
    'a descending count': bytes((n) => 255 - n),
    'a count by sevens, beyond 255': bytes((n) => n * 7 + 200),
    'a count by twos with zeros between': bytes((n) => (n % 2) * n),
    'a repeated pattern of 4': Buffer.from('abcdabcdabcdabcdabcdabcdabcdabcd'),
    'a repeated pattern of 16': Buffer.from('0f4a9c2e7b1d8356'.repeat(2)),
    'a repeated pattern of 11': Buffer.from('correcthors'.repeat(3).slice(0, 32)),
    'the alphabet followed by digits': Buffer.from('abcdefghijklmnopqrstuvwxyz012345'),
  };
  for (const [name, key] of Object.entries(PREDICTABLE))
    it(`is rejected if its bytes are ${name}; outside production it is accepted`, () => {
      const env = { SECRETS_KEY: key.toString('base64') };
      expect(key).to.have.length(32);
      expect(saidOf({ ...env, NODE_ENV: 'production' })).to.equal(
        'SECRETS_KEY must be random, but its bytes follow a pattern: generate a key with openssl rand -base64 32',
      );
      expect(saidOf(env)).to.equal('taken');
    });
  it('is rejected with three different steps between its bytes, and accepted with four', () => {
    const stepping = (steps: readonly number[]) => {
      let byte = 0;
      return bytes((n) => {
        byte += n === 0 ? 0 : (steps[((n * n) % 31) % steps.length] as number);
        return byte;
      });
    };
    expect([isPredictable(stepping([1, 3, 9])), isPredictable(stepping([1, 3, 9, 5]))]).to.deep.equal([true, false]);
  });
  it('is accepted if it is random', () => {
    for (let i = 0; i < 2_000; i++) expect(isPredictable(randomBytes(32))).to.equal(false);
    expect(isPredictable(Buffer.from('5f2b8a0c94d1e7360b5cfa1822de4791'))).to.equal(false);
  });
});
