// Secrets at rest (rule S6): only the same key, place and bytes return the text.
import { createSecretKey } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { seal, unseal } from '../../../infrastructure/secrets/seal.ts';

const KEY = createSecretKey(Buffer.from(Array.from({ length: 32 }, (_, n) => n)));
const OTHER_KEY = createSecretKey(Buffer.from(Array.from({ length: 32 }, (_, n) => n + 1)));
const OVERHEAD_BYTES = 12 + 16;

describe('seal', () => {
  it('returns any text, and hides it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (context, text) => {
        const sealed = seal(KEY, context, text);
        expect(sealed).to.have.length(OVERHEAD_BYTES + Buffer.byteLength(text));
        expect(unseal(KEY, context, sealed).toString()).to.equal(text);
      }),
    );
    const secret = 'a'.repeat(64);
    expect(seal(KEY, 'place', secret).includes(Buffer.from('aaaa'))).to.equal(false);
  });

  it('seals the same text differently each time', () => {
    const twice = [seal(KEY, 'place', 'text'), seal(KEY, 'place', 'text')] as const;
    expect(twice[0].equals(twice[1])).to.equal(false);
    expect(twice.map((sealed) => unseal(KEY, 'place', sealed).toString())).to.deep.equal(['text', 'text']);
  });

  it('returns any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect([...unseal(KEY, 'place', seal(KEY, 'place', Buffer.from(bytes)))]).to.deep.equal([...bytes]);
      }),
    );
  });

  it('never uses an initialization vector twice', () => {
    const vectors = Array.from({ length: 2_000 }, () => seal(KEY, '', '').toString('hex', 0, 12));
    expect(new Set(vectors).size).to.equal(vectors.length);
  });

  it('rejects another key', () => {
    expect(() => unseal(OTHER_KEY, 'place', seal(KEY, 'place', 'text'))).to.throw(Error, /unable to authenticate/);
  });

  it('rejects another place', () => {
    expect(() => unseal(KEY, 'other place', seal(KEY, 'place', 'text'))).to.throw(Error, /unable to authenticate/);
  });

  it('rejects any changed byte', () => {
    const sealed = seal(KEY, 'place', 'text');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] as number) ^ 1;
      expect(() => unseal(KEY, 'place', changed), `byte ${at}`).to.throw(Error, /unable to authenticate/);
    }
  });

  it('rejects a truncated text of any length', () => {
    const sealed = seal(KEY, 'place', 'text');
    for (let length = 0; length < sealed.length; length++)
      expect(() => unseal(KEY, 'place', sealed.subarray(0, length)), `${length} bytes`).to.throw(Error);
  });
});
