import { hash } from 'node:crypto';
import { expect } from 'chai';
import { fold } from '../../../domain/kernel/decider.ts';
import { encodeRawId, type KeyId } from '../../../domain/kernel/ids.ts';
import {
  type ApiKey,
  findKey,
  issueKey,
  type KeyringEvent,
  keyring,
  revokeKey,
  rotateKey,
  workingKeys,
} from '../../../domain/keyring/keyring.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const [FIRST, SECOND, THIRD] = [1, 2, 3].map((n) => String(n).padStart(26, '0')) as [KeyId, KeyId, KeyId];
const key = (over: Partial<ApiKey> = {}): ApiKey => ({
  keyId: FIRST,
  accountId: ACCOUNT_ID,
  mode: 'test',
  fingerprint: 'a'.repeat(64),
  prefix: 'ak_test_abcd',
  label: 'till',
  issuedAt: at('12:00:00'),
  ...over,
});
const issued = (data: ApiKey): KeyringEvent => ({ type: 'ApiKeyIssued', data });
const rotated = (replaced: KeyId, to: ApiKey): KeyringEvent => ({ type: 'ApiKeyRotated', data: { replaced, key: to } });
const revoked = (keyId: KeyId): KeyringEvent => ({ type: 'ApiKeyRevoked', data: { keyId, at: at('13:00:00') } });
const live = key({ keyId: SECOND, mode: 'live', fingerprint: 'b'.repeat(64), label: null });
const fresh = key({ keyId: THIRD, fingerprint: 'c'.repeat(64), issuedAt: at('13:00:00') });

describe('issueKey', () => {
  it('issues a key and is idempotent', () =>
    given(keyring).when(issueKey(key())).then(issued(key()), key()).again(key()));
  it('returns the original key when repeated with other content', () => {
    given(keyring, issued(key()))
      .when(issueKey(key({ label: 'other', issuedAt: at('13:00:00') })))
      .then(key());
  });
  it('keeps an account’s keys in order of issue', () => {
    const after = given(keyring, issued(key())).when(issueKey(live)).then(issued(live), live).and();
    expect(workingKeys(after.state)).to.deep.equal([key(), live]);
  });
  it('never reactivates a revoked or replaced key', () => {
    given(keyring, issued(key()), revoked(FIRST)).when(issueKey(key())).then(null);
    given(keyring, issued(key()), rotated(FIRST, fresh)).when(issueKey(key())).then(null);
  });
  for (const letter of ['x', '😀'])
    it(`accepts a label of 64 characters and rejects a longer one: ${letter}`, () => {
      const longest = key({ label: letter.repeat(64) });
      given(keyring).when(issueKey(longest)).then(issued(longest), longest);
      given(keyring)
        .when(issueKey(key({ label: letter.repeat(65) })))
        .rejected('invalid_request', 'label');
    });
});

describe('rotateKey', () => {
  it('replaces the old key in one event and keeps its label and mode', () => {
    const { label: _, ...unlabelled } = fresh;
    const after = given(keyring, issued(key()), issued(live))
      .when(rotateKey(FIRST, unlabelled, undefined))
      .then(rotated(FIRST, fresh), fresh)
      .and();
    expect(workingKeys(after.state)).to.deep.equal([live, fresh]);
  });
  it('accepts a new label, including an empty one', () => {
    for (const label of ['counter', '']) {
      const relabelled = { ...fresh, label };
      given(keyring, issued(key()))
        .when(rotateKey(FIRST, fresh, label))
        .then(rotated(FIRST, relabelled), relabelled);
    }
  });
  it('rejects a second rotation with not_found and keeps the key of the first', () => {
    const once = given(keyring, issued(key()), rotated(FIRST, fresh));
    once
      .when(rotateKey(FIRST, { ...fresh, keyId: SECOND, fingerprint: 'd'.repeat(64) }, undefined))
      .rejected('not_found');
    expect(workingKeys(once.state)).to.deep.equal([fresh]);
  });
  it('rejects revoked and unknown keys with not_found', () => {
    given(keyring, issued(key()), revoked(FIRST))
      .when(rotateKey(FIRST, fresh, undefined))
      .rejected('not_found');
    given(keyring, issued(key()))
      .when(rotateKey(SECOND, fresh, undefined))
      .rejected('not_found');
    given(keyring)
      .when(rotateKey(FIRST, fresh, undefined))
      .rejected('not_found');
  });
  it('checks the label first', () => {
    given(keyring)
      .when(rotateKey(FIRST, fresh, 'x'.repeat(65)))
      .rejected('invalid_request', 'label');
  });
  it('throws if the new key has another mode', () => {
    given(keyring, issued(key()))
      .when(rotateKey(FIRST, live, undefined))
      .throws(/of test mode was to be rotated to live/);
  });
});

describe('revokeKey', () => {
  it('ends only the given key', () => {
    const after = given(keyring, issued(key()), issued(live))
      .when(revokeKey(FIRST, at('13:00:00')))
      .then(revoked(FIRST), 'revoked')
      .and();
    expect(workingKeys(after.state)).to.deep.equal([live]);
  });
  it('rejects revoked, replaced and unknown keys with not_found', () => {
    for (const events of [[issued(key()), revoked(FIRST)], [issued(key()), rotated(FIRST, fresh)], [issued(live)], []])
      given(keyring, ...events)
        .when(revokeKey(FIRST, at('14:00:00')))
        .rejected('not_found');
  });
});

describe('findKey', () => {
  it('returns an active key and rejects a revoked one', () => {
    const { state } = given(keyring, issued(key()), issued(live), revoked(SECOND));
    expect(findKey(state, FIRST)).to.deep.equal(key());
    expect(findKey(state, SECOND)).to.include({ code: 'not_found' });
  });
});

describe('the state of a keyring', () => {
  it('ignores the revocation of an unknown key', () => {
    const { state } = given(keyring, issued(key()), revoked(SECOND));
    expect(state).to.deep.equal(given(keyring, issued(key())).state);
  });
  it('is folded in time proportional to the events, however many keys there are', () => {
    const id = (n: number): KeyId => encodeRawId(hash('sha256', String(n), 'buffer').subarray(0, 16)) as KeyId;
    const cpuMsOf = (keys: number): number => {
      const all = Array.from({ length: 2 * keys }, (_, n) => key({ keyId: id(n) }));
      const events = all.map((one, n) => (n < keys ? issued(one) : rotated(id(n - keys), one)));
      const before = process.cpuUsage();
      expect(fold(keyring, events).issued).to.equal(2 * keys);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    cpuMsOf(1_000);
    // The ratio is 10 if the time is proportional, and 100 if it is quadratic.
    const times = Array.from({ length: 3 }, () => cpuMsOf(10_000) / cpuMsOf(1_000));
    expect(Math.min(...times)).to.be.below(40);
  });
});
