// Secrets keys with IDs, and a separate derived key for each purpose (rule S6).
import { createSecretKey } from 'node:crypto';
import { expect } from 'chai';
import { SecretsKeyring, UnknownSecretsKey } from '../../../infrastructure/secrets/keyring.ts';
import { unseal } from '../../../infrastructure/secrets/seal.ts';

const [OLD, NEW, OTHER] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];

describe('a keyring of secrets keys', () => {
  it('seals with the first key, and names it in the sealed text', () => {
    const [old, both] = [new SecretsKeyring([OLD]), new SecretsKeyring([NEW, OLD])];
    expect(both.ids).to.deep.equal([new SecretsKeyring([NEW]).sealingId, old.sealingId]);
    expect(both.seal('webhook secrets', 'place', 'text').keyId).to.equal(both.sealingId);
    expect(both.sealingId)
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(old.sealingId);
    expect([both.has(old.sealingId), old.has(both.sealingId)]).to.deep.equal([true, false]);
  });
  it('gives a key the same ID in any position, and ignores duplicates', () => {
    expect(new SecretsKeyring([OLD, NEW]).ids).to.deep.equal(new SecretsKeyring([NEW, OLD]).ids.toReversed());
    expect(new SecretsKeyring([OLD, OLD]).ids).to.deep.equal([new SecretsKeyring([OLD]).sealingId]);
    // IDs are stored, so they must never change.
    expect(new SecretsKeyring([OLD]).sealingId).to.equal('99643cb47f4b928b');
  });
  it('opens texts sealed with any of its keys', () => {
    const sealed = [OLD, NEW].map((key) => new SecretsKeyring([key]).seal('webhook secrets', 'place', 'text'));
    for (const keyring of [new SecretsKeyring([OLD, NEW]), new SecretsKeyring([NEW, OTHER, OLD])])
      for (const one of sealed) expect(keyring.unseal('webhook secrets', 'place', one)).to.equal('text');
  });
  it('names a missing key', () => {
    const sealed = new SecretsKeyring([OLD]).seal('webhook secrets', 'place', 'text');
    const open = () => new SecretsKeyring([NEW, OTHER]).unseal('webhook secrets', 'place', sealed);
    expect(open).to.throw(UnknownSecretsKey, `sealed with the secrets key ${sealed.keyId}, which this process`);
  });
  it('does not open a text sealed for another purpose, at another place, or with another key', () => {
    const keyring = new SecretsKeyring([NEW, OLD]);
    const sealed = keyring.seal('webhook secrets', 'place', 'text');
    expect(() => keyring.unseal('key check', 'place', sealed)).to.throw(Error, /unable to authenticate/);
    expect(() => keyring.unseal('webhook secrets', 'other', sealed)).to.throw(Error, /unable to authenticate/);
    const [, keyId] = keyring.ids as [string, string];
    expect(() => keyring.unseal('webhook secrets', 'place', { ...sealed, keyId })).to.throw(Error, /unable to auth/);
  });
  it('never seals with the secrets key itself', () => {
    const { sealed } = new SecretsKeyring([OLD]).seal('webhook secrets', 'place', 'text');
    expect(() => unseal(createSecretKey(OLD), 'place', sealed)).to.throw(Error, /unable to authenticate/);
  });
});
