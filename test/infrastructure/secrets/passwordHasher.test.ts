// Hashing passwords (rule D2).
import { expect } from 'chai';
import { PasswordHashingBusy } from '../../../application/ports/logins.ts';
import { OWASP_PARAMETERS, passwordHasher } from '../../../infrastructure/secrets/passwordHasher.ts';

const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 };
const hasher = passwordHasher(CHEAP);
const ASKER = { email: 'ana@example.com', address: '192.0.2.1' };

describe('the password hasher', () => {
  it('uses argon2id with the parameters of OWASP, and a new salt each time', async () => {
    const real = passwordHasher();
    const [one, two] = await Promise.all([
      real.hash('uma senha de teste', ASKER),
      real.hash('uma senha de teste', ASKER),
    ]);
    for (const hash of [one, two]) expect(hash).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(one).to.not.equal(two);
    expect(OWASP_PARAMETERS).to.deep.equal({ memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    expect(await real.isRight('uma senha de teste', one, ASKER)).to.equal(true);
  });
  it('accepts only the right password', async () => {
    const right = 'uma senha de teste';
    const hash = await hasher.hash(right, ASKER);
    for (const [password, isRight] of [
      [right, true],
      [`${right} `, false],
      [right.slice(0, -1), false],
      ['', false],
      [right.toUpperCase(), false],
    ] as const)
      expect(await hasher.isRight(password, hash, ASKER), JSON.stringify(password)).to.equal(isRight);
  });
  it('truncates nothing: long passwords that differ only at the end or after a NUL are different', async () => {
    const long = 'a'.repeat(127);
    const hash = await hasher.hash(`${long}b`, ASKER);
    expect(await hasher.isRight(`${long}c`, hash, ASKER)).to.equal(false);
    expect(await hasher.isRight(`${long}b`, hash, ASKER)).to.equal(true);
    expect(await hasher.isRight('first\0other', await hasher.hash('first\0one', ASKER), ASKER)).to.equal(false);
  });
  it('treats differently composed Unicode as the same text', async () => {
    expect(await hasher.isRight('a\u00e7ai\u0301', await hasher.hash('ac\u0327a\u00ed', ASKER), ASKER)).to.equal(true);
  });
  it('accepts no password if there is no hash', async () => {
    for (const parameters of [CHEAP, OWASP_PARAMETERS])
      for (const password of ['', 'x', 'uma senha de teste'])
        expect(await passwordHasher(parameters).isRight(password, null, ASKER)).to.equal(false);
  });
  it('computes two hashes at once, lets others wait, and rejects when too many wait', async () => {
    const bounded = passwordHasher(CHEAP, { atOnce: 2, waitingMax: 3 });
    const ended: number[] = [];
    const asked = Array.from({ length: 6 }, async (_, i) => {
      const result = await bounded.hash('uma senha de teste', ASKER).then(
        () => 'hashed',
        (error: Error) => error,
      );
      ended.push(i);
      return result;
    });
    const results = await Promise.all(asked);
    expect(results.slice(0, 5)).to.deep.equal(Array(5).fill('hashed'));
    expect(results[5]).to.be.instanceOf(PasswordHashingBusy);
    expect(ended[0]).to.equal(5);
    expect(await bounded.hash('uma senha de teste', ASKER)).to.be.a('string');
  });
  it('frees its slot if a hash fails', async () => {
    const bounded = passwordHasher(CHEAP, { atOnce: 1, waitingMax: 0 });
    for (let i = 0; i < 3; i++)
      expect(await bounded.isRight('x', 'no hash', ASKER).catch((error: Error) => error.constructor.name)).to.equal(
        'Error',
      );
    expect(await bounded.hash('uma senha de teste', ASKER)).to.be.a('string');
  });
});
