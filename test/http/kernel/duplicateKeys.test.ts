// JSON objects with duplicate keys: a proxy could have checked the other member (issue 18, point 8).
import { expect } from 'chai';
import fc from 'fast-check';
import { hasDuplicateKeys, membersNamed } from '../../../http/kernel/body.ts';
import { newKey, type TestGateway } from '../../world/gateway.ts';
import { expectError, openReady } from '../../world/http.ts';

const isRefused = (text: string): boolean => hasDuplicateKeys(JSON.parse(text), membersNamed(Buffer.from(text)));

describe('duplicate keys in JSON', () => {
  for (const [text, expected] of [
    ['{"a":1,"a":2}', true],
    ['{"a":1,"a":1}', true],
    ['{"a":1,"\\u0061":2}', true],
    ['{"a":1,"A":2}', false],
    ['{"a":{"b":1,"b":2}}', true],
    ['[[{"b":[{"c":1,"c":[]}]}]]', true],
    ['{"a":{"b":1},"c":{"b":1}}', false],
    ['{"__proto__":1,"__proto__":2}', true],
    ['{"__proto__":1,"constructor":2,"toString":3}', false],
    ['{"1":1,"1":2}', true],
    ['{"":1,"":2}', true],
    ['{":":":\\":","\\\\":"\\\\","b":"::"}', false],
    ['{"\\"":1,"\\u0022":2}', true],
    ['{"a" : 1 , "b"\n:\t2}', false],
    ['":"', false],
    ['[1,"a:b",{}]', false],
    ['{}', false],
    ['null', false],
  ] as const)
    it(`${text} ${expected ? 'has a duplicate' : 'has no duplicate'}`, () =>
      expect(isRefused(text)).to.equal(expected));

  it('are never found in serialized JSON values, and always found when a member is repeated at any place', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.json(), fc.string(), (one, other, key) => {
        expect(isRefused(one)).to.equal(false);
        expect(isRefused(JSON.stringify(JSON.parse(one), null, 2))).to.equal(false);
        const name = JSON.stringify(key);
        const escaped = `"${key.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
        for (const again of [name, escaped])
          expect(isRefused(`[${one},{"x":{${name}:${one},"y":[${other}],${again}:${other}}}]`)).to.equal(true);
      }),
    );
  });
  it('are found at a depth of 10,000, without recursion', () => {
    const deep = (inner: string) => `${'{"a":'.repeat(10_000)}${inner}${'}'.repeat(10_000)}`;
    expect([isRefused(deep('1')), isRefused(deep('{"b":1,"b":1}'))]).to.deep.equal([false, true]);
  });

  describe('in a request', () => {
    let gateway: TestGateway;
    before(async () => {
      gateway = await openReady();
    });
    after(() => gateway.close());
    const send = (path: string, raw: string, headers: Record<string, string> = {}) =>
      gateway.call('POST', path, {
        raw,
        idempotencyKey: newKey(),
        headers: { 'content-type': 'application/json', ...headers },
      });

    it('return 400 invalid_json and write nothing, on every kind of route', async () => {
      const head = await gateway.storage.store.head();
      const owner = await gateway.logIn();
      const written = await gateway.storage.store.head();
      for (const [path, raw] of [
        ['/v1/charges', '{"amount":1,"amount":100,"payment_method":"pix"}'],
        ['/v1/charges', '{"amount":100,"payment_method":"pix","metadata":{"a":{"b":1,"\\u0062":1}}}'],
        ['/v1/charges', '{"amount":100,"payment_method":"pix","other":1,"other":1}'],
        ['/v1/pix/charges', '{"amount":100,"payment_method":"pix","payment_method":"pix"}'],
        ['/v1/payments', '{"amount":1,"amount":2}'],
        ['/v1/webhooks/endpoints', '{"url":"https://a.example","url":"https://b.example","events":["*"]}'],
        ['/v1/api-keys', '{"test":true,"test":false}'],
        ['/v1/auth/login', '{"email":"a@b.co","password":"x","password":"y"}'],
      ] as const)
        expectError(await send(path, raw, path === '/v1/api-keys' ? owner : {}), 400, 'invalid_json');
      expect(head).to.not.equal(null);
      expect(await gateway.storage.store.head()).to.equal(written);
    });
    it('don’t use up the idempotency key', async () => {
      const idempotencyKey = newKey();
      const headers = { 'content-type': 'application/json' };
      const ask = (raw: string) => gateway.call('POST', '/v1/charges', { raw, idempotencyKey, headers });
      expectError(await ask('{"amount":5,"payment_method":"pix","amount":5}'), 400, 'invalid_json');
      const { status, headers: answered } = await ask('{"amount":5,"payment_method":"pix"}');
      expect([status, answered.get('idempotent-replayed')]).to.deep.equal([201, null]);
    });
    it('are rejected in compressed bodies too', async () => {
      const { gzipSync } = await import('node:zlib');
      const raw = gzipSync('{"amount":5,"payment_method":"pix","amount":6}');
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const reply = await gateway.call('POST', '/v1/charges', { raw, idempotencyKey: newKey(), headers });
      expectError(reply, 400, 'invalid_json');
    });
  });
});
