import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { HmacKey } from '../../../application/ports/hmac.ts';

const text = (maxLength: number) => fc.string({ unit: 'binary', maxLength }).map((one) => one.toWellFormed());

describe('an HMAC from one-shot hashes', () => {
  it('equals Node’s HMAC for every key and text (law)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), text(300), (bytes, message) => {
        const [key, node] = [new HmacKey(Buffer.from(bytes)), createHmac('sha256', bytes).update(message)];
        const digest = node.digest();
        expect(key.bytes(message)).to.deep.equal(digest);
        for (const encoding of ['hex', 'base64', 'base64url'] as const)
          expect(key.digest(message, encoding)).to.equal(digest.toString(encoding));
      }),
    );
  });

  it('equals Node’s HMAC for latin1 bytes and long texts', () => {
    const key = new HmacKey(Buffer.alloc(64, 3));
    for (const length of [1, 64, 5_000, 40_000, 10]) {
      const bytes = Buffer.alloc(length, 'ÿé\u0000', 'latin1');
      const expected = createHmac('sha256', Buffer.alloc(64, 3)).update(bytes).digest();
      expect(key.bytes(bytes.toString('latin1'), 'latin1')).to.deep.equal(expected);
    }
    expect(key.digest('€'.repeat(9_000), 'hex')).to.equal(
      createHmac('sha256', Buffer.alloc(64, 3)).update('€'.repeat(9_000)).digest('hex'),
    );
  });
});
