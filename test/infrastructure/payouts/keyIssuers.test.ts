// The issuer of a key may not approve its payouts (rule Y5).
import { expect } from 'chai';
import { type EventLog, UnreadableEvent } from '../../../application/ports/eventCodec.ts';
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';
import { keyIssuers } from '../../../infrastructure/payouts/keyIssuers.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';

const ISSUER = '0'.repeat(26);
const recorded = { metadata: JSON.stringify({ actor: `user:usr_${ISSUER}` }) } as RecordedEvent;
const damaged = new UnreadableEvent(recorded, new Error('damaged'));
const issued = { event: { type: 'ApiKeyIssued', data: { fingerprint: 'a'.repeat(64) } } };

/** Returns the issuers in a keyring with these events. */
const issuersIn = (...decoded: readonly object[]) => {
  const events = decoded.values();
  const store = {
    readStream: async function* () {
      for (const _ of decoded) yield recorded;
    },
  };
  return keyIssuers({ store, codec: { decode: async () => [events.next().value] } } as unknown as EventLog);
};
const KEY = `key:${'a'.repeat(16)}`;

describe('the issuer of an API key', () => {
  it('is found behind an event that can’t be read', async () => {
    expect(await issuersIn(damaged, issued).issuerOf(ACCOUNT_ID, KEY)).to.equal(ISSUER);
  });
  it('is unreadable, not nobody, if the event that issued the key can’t be read', async () => {
    const [other, later] = [`key:${'b'.repeat(16)}`, new UnreadableEvent(recorded, new Error('later'))];
    expect(await issuersIn(issued, damaged, later).issuerOf(ACCOUNT_ID, other)).to.equal(damaged);
  });
  it('is nobody if no key made the request, or no event issued the key', async () => {
    expect(await issuersIn(damaged).issuerOf(ACCOUNT_ID, `user:usr_${ISSUER}`)).to.equal(null);
    expect(await issuersIn(issued).issuerOf(ACCOUNT_ID, `key:${'b'.repeat(16)}`)).to.equal(null);
  });
});
