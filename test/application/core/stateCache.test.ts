// Which states stay cached when there are many tenants.
import { expect } from 'chai';
import { StateCache } from '../../../application/core/stateCache.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import type { AccountId, PaymentId, StreamName } from '../../../domain/kernel/ids.ts';
import { KEYRING } from '../../../domain/keyring/keyring.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';

const ACCOUNTS = 10_000;
/** The size of an account’s settings in bytes. */
const SETTINGS = 'x'.repeat(1_400);
const account = (n: number) => ACCOUNT.stream(`a${n}` as AccountId);
const keyring = (n: number) => KEYRING.stream(`a${n}` as AccountId);
const payment = (n: number) => PAYMENT.stream(`p${n}` as PaymentId);

describe('the cache of states', () => {
  it('keeps 10,000 accounts and their keyrings, however many payments are cached in between', () => {
    const cache = new StateCache();
    const missing: StreamName[] = [];
    for (let round = 0; round < 3; round++)
      for (let n = 0; n < ACCOUNTS; n++) {
        for (const [stream, revision] of [
          [account(n), 100],
          [keyring(n), 2],
        ] as const)
          if (cache.get(stream) === undefined) {
            missing.push(stream);
            cache.set(stream, { state: { stream, settings: SETTINGS }, revision });
          }
        for (let i = 0; i < 5; i++) cache.set(payment(5 * (round * ACCOUNTS + n) + i), { state: n, revision: 3 });
      }
    expect(missing).to.have.length(2 * ACCOUNTS); // Each was missing only the first time.
    expect(cache.get(account(7))?.revision).to.equal(100);
  });

  it('keeps fewer states of longer streams, and evicts the oldest first', () => {
    const held = (revision: number): number => {
      const cache = new StateCache();
      for (let n = 0; n < 20_000; n++) cache.set(payment(n), { state: n, revision });
      let count = 0;
      while (cache.peek(payment(19_999 - count)) !== undefined) count++;
      return count;
    };
    const [short, long] = [held(1), held(300)];
    expect([short, long]).to.deep.equal([4_444, 87]);
  });

  it('keeps fewer accounts if their settings are large', () => {
    const cache = new StateCache();
    for (let n = 0; n < 2_000; n++) cache.set(account(n), { state: 'x'.repeat(30_000), revision: 1 });
    const kept = Array.from({ length: 2_000 }, (_, n) => cache.peek(account(n))).filter((one) => one !== undefined);
    expect(kept.length).to.be.within(500, 1_000);
  });

  it('removes a single stream, or all', () => {
    const cache = new StateCache();
    for (const stream of [account(1), keyring(1), payment(1)]) cache.set(stream, { state: null, revision: 0 });
    cache.delete(account(1));
    expect([account(1), keyring(1), payment(1)].map((stream) => cache.get(stream)?.revision)).to.deep.equal([
      undefined,
      0,
      0,
    ]);
    cache.clear();
    expect([keyring(1), payment(1)].map((stream) => cache.peek(stream))).to.deep.equal([undefined, undefined]);
  });
});
