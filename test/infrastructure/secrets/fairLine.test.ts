// The order in which waiting requests are served (rule D2).
import { expect } from 'chai';
import fc from 'fast-check';
import { fairLine } from '../../../infrastructure/secrets/fairLine.ts';

class Full extends Error {}

/** Returns a line whose tasks end when the test ends them. */
const openLine = (atOnce: number, waitingMax = 1_000) => {
  const line = fairLine(atOnce, waitingMax, () => new Full('full'));
  /** The names of the tasks in the order they started. */
  const begun: string[] = [];
  const running: (() => void)[] = [];
  const ended: Promise<string>[] = [];
  let most = 0;
  const come = (name: string, email: string, address: string | null): void => {
    const work = () =>
      new Promise<string>((resolve) => {
        begun.push(name);
        running.push(() => resolve(name));
        most = Math.max(most, running.length);
      });
    ended.push(line({ email, address }, work).catch((error: Error) => `${name} ${error.message}`));
  };
  const turn = async (): Promise<void> => {
    running.shift()?.();
    await new Promise(setImmediate);
  };
  const drain = async (): Promise<readonly string[]> => {
    while (running.length > 0) await turn();
    return Promise.all(ended);
  };
  return { come, turn, drain, begun, most: () => most };
};
const many = (count: number, one: (i: number) => void) => Array.from({ length: count }, (_, i) => one(i));

describe('a fair line', () => {
  it('serves requests for one user in order of arrival', async () => {
    const { come, drain, begun } = openLine(1);
    many(5, (i) => come(`${i}`, 'ana@example.com', '192.0.2.1'));
    expect(await drain()).to.deep.equal(['0', '1', '2', '3', '4']);
    expect(begun).to.deep.equal(['0', '1', '2', '3', '4']);
  });
  for (const [attack, emailOf, addressOf] of [
    ['guesses for one user from 60 addresses', () => 'ana@example.com', (i: number) => `192.0.2.${i}`],
    ['guesses for one user from one address', () => 'ana@example.com', () => '192.0.2.1'],
    ['guesses for 60 users from one address', (i: number) => `user${i}@example.com`, () => '192.0.2.1'],
  ] as const)
    it(`${attack} wait behind another user`, async () => {
      const { come, turn, drain, begun } = openLine(2);
      many(60, (i) => come(`guess ${i}`, emailOf(i), addressOf(i)));
      for (let i = 0; i < 3; i++) await turn();
      come('stranger', 'bia@example.com', '198.51.100.1');
      await turn();
      expect(begun.at(-1)).to.equal('stranger');
      await drain();
      expect(begun).to.have.length(61);
    });
  it('serves a user’s own address before repeated guesses from other addresses', async () => {
    const { come, turn, begun } = openLine(1);
    many(60, (i) => come(`guess ${i}`, 'ana@example.com', `192.0.2.${i % 3}`));
    for (let i = 0; i < 5; i++) await turn();
    come('owner', 'ANA@example.com', '198.51.100.1');
    await turn();
    await turn();
    expect(begun).to.include('owner');
  });
  it('starves no request: guesses for one user are served beside a stream of other users', async () => {
    const { come, turn, begun } = openLine(1);
    many(10, (i) => come(`guess ${i}`, 'ana@example.com', '192.0.2.1'));
    for (let i = 0; i < 40; i++) {
      come(`stranger ${i}`, `user${i}@example.com`, `198.51.100.${i}`);
      await turn();
    }
    expect(begun.filter((name) => name.startsWith('guess')).length).to.be.at.least(5);
  });
  it('rejects requests of the user with the most in line if it is full, never of a new user', async () => {
    const { come, drain } = openLine(1, 3);
    come('first', 'ana@example.com', null);
    many(4, (i) => come(`guess ${i}`, 'bia@example.com', `192.0.2.${i}`));
    come('stranger', 'caio@example.com', '198.51.100.1');
    const ended = await drain();
    expect(ended).to.deep.equal(['first', 'guess 0', 'guess 1', 'guess 2 full', 'guess 3 full', 'stranger']);
  });
  it('continues after a task that fails', async () => {
    const line = fairLine(1, 0, () => new Full());
    const asker = { email: 'ana@example.com', address: null };
    const fails = () => Promise.reject(new Error('no'));
    for (let i = 0; i < 3; i++) expect(await line(asker, fails).catch((error: Error) => error.message)).to.equal('no');
    expect(await line(asker, async () => 1)).to.equal(1);
  });
  it('never exceeds its limit of concurrent tasks, and serves or rejects each task once (law)', async () => {
    const one = fc.record({ email: fc.nat(5), address: fc.option(fc.nat(5)), turns: fc.nat(2) });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), async (all, atOnce) => {
        const { come, turn, drain, begun, most } = openLine(atOnce, 10);
        for (const [i, { email, address, turns }] of all.entries()) {
          come(`${i}`, `user${email}@example.com`, address === null ? null : `192.0.2.${address}`);
          for (let times = 0; times < turns; times++) await turn();
        }
        const ended = await drain();
        const served = ended.filter((name) => !name.endsWith('full'));
        expect(most()).to.be.at.most(atOnce);
        expect([...begun].sort()).to.deep.equal([...served].sort());
        expect(ended.map((name) => name.split(' ')[0])).to.deep.equal(all.map((_, i) => `${i}`));
      }),
      { numRuns: 200 },
    );
  });
});
