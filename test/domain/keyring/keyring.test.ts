import { expect } from 'chai';
import type { KeyId } from '../../../domain/kernel/ids.ts';
import { type ApiKey, issueKey, type KeyringEvent, keyring } from '../../../domain/keyring/keyring.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const key = (over: Partial<ApiKey> = {}): ApiKey => ({
  keyId: '00000000000000000000000001' as KeyId,
  accountId: ACCOUNT_ID,
  mode: 'test',
  fingerprint: 'a'.repeat(64),
  prefix: 'ak_test_abcd',
  label: 'till',
  issuedAt: at('12:00:00'),
  ...over,
});
const issued = (data: ApiKey): KeyringEvent => ({ type: 'ApiKeyIssued', data });
const live = key({
  keyId: '00000000000000000000000002' as KeyId,
  mode: 'live',
  fingerprint: 'b'.repeat(64),
  label: null,
});

describe('issueKey', () => {
  it('issues a key, once', () => given(keyring).when(issueKey(key())).then(issued(key()), key()).again(key()));
  it('again with other content is the key of the first time', () => {
    given(keyring, issued(key()))
      .when(issueKey(key({ label: 'other', issuedAt: at('13:00:00') })))
      .then(key());
  });
  it('keeps the keys of an account in order of issue', () => {
    const after = given(keyring, issued(key())).when(issueKey(live)).then(issued(live), live).and();
    expect(after.state).to.deep.equal({ keys: [key(), live] });
  });
});
