// What POST /v1/charges stores of the merchant’s metadata, and its limits (rule I11).
import { expect } from 'chai';
import { type Body, chargeSender, VALID } from '../../../world/chargeSender.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { openReady } from '../../../world/http.ts';

describe('metadata of a charge', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const { refuses, takes } = chargeSender(() => gateway);
  const metadataOf = async (metadata: unknown, more: Body = {}) =>
    (await takes({ ...VALID, metadata, ...more })).body['metadata'];
  const keys = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i]));
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

  it('is returned as sent', async () => {
    const metadata = {
      order: '1',
      list: [1, 2.5, null, { a: [] }],
      yes: true,
      ключ: '💠',
      '': 'empty key',
      'a.b': 1,
      ' ': 0,
    };
    expect(await metadataOf(metadata)).to.deep.equal(metadata);
  });
  it('is {} by default', async () => expect(await metadataOf(undefined)).to.deep.equal({}));
  it('loses reserved keys and keys that begin with _, at the top level only', async () => {
    const reserved = { med: 1, failure: 2, settlement: 3, provider: 4, fees: 5, _x: 6, _: 7, __y: 8 };
    expect(await metadataOf({ ...reserved, Med: 1, x_: 2, kept: reserved })).to.deep.equal({
      Med: 1,
      x_: 2,
      kept: reserved,
    });
  });
  it('loses prototype keys at every depth', async () => {
    const text = `{"amount":5,"payment_method":"pix","__proto__":{"amount":1},"metadata":{"__proto__":{"x":1},"constructor":1,"prototype":2,"a":[{"__proto__":1,"b":{"constructor":{}}}]}}`;
    const reply = await takes(text);
    expect(reply.body['amount']).to.equal(5);
    expect(reply.text).to.include('"metadata":{"a":[{"b":{}}]}');
  });
  it('keeps its own description unless the body has one', async () => {
    expect(await metadataOf({ description: 'own', a: 1 })).to.deep.equal({ description: 'own', a: 1 });
    expect(await metadataOf({ description: 'own', a: 1 }, { description: 'body' })).to.deep.equal({
      description: 'body',
      a: 1,
    });
    expect(await metadataOf({ a: 1 }, { description: '' })).to.deep.equal({ a: 1, description: '' });
    expect(await metadataOf(undefined, { description: 'alone' })).to.deep.equal({ description: 'alone' });
  });
  it('has at most 50 keys, without stripped keys and the description', async () => {
    const most = { ...keys(50), med: 1, _y: 2, description: 'd' };
    expect(await metadataOf(most)).to.deep.equal({ ...keys(50), description: 'd' });
    await refuses({ ...VALID, metadata: keys(51) }, 'invalid_metadata', 'metadata');
  });
  it('has at most 8192 bytes as UTF-8 JSON, without the description', async () => {
    const sized = (bytes: number) => ({ a: `${'x'.repeat(bytes - '{"a":""}'.length - 2)}é` });
    expect(Buffer.byteLength(JSON.stringify(sized(8192)))).to.equal(8192);
    expect(await metadataOf(sized(8192), { description: 'y'.repeat(500) })).to.deep.equal({
      ...sized(8192),
      description: 'y'.repeat(500),
    });
    await refuses({ ...VALID, metadata: sized(8193) }, 'invalid_metadata', 'metadata');
  });
  it('is nested at most 20 levels deep', async () => {
    expect(await metadataOf(nested(20))).to.deep.equal(nested(20));
    await refuses({ ...VALID, metadata: nested(21) }, 'invalid_metadata', 'metadata');
  });
  it('must not contain numbers that JSON can’t represent', () =>
    refuses('{"amount":5,"payment_method":"pix","metadata":{"a":[1e400]}}', 'invalid_metadata', 'metadata'));
  const withNumber = (text: string) => `{"amount":5,"payment_method":"pix","metadata":${text}}`;
  for (const text of [
    '{"a":9007199254740992}',
    '{"a":9007199254740993}',
    '{"a":-9007199254740993}',
    '{"a":10000000000000000}',
    '{"a":1e16}',
    '{"a":1e300}',
    '{"a":9007199254740992.5}',
    '{"a":[[{"b":18446744073709551615}]]}',
    '{"_own":{"a":9007199254740993}}',
  ])
    it(`must not contain integers beyond ±(2^53 − 1), which would lose precision: ${text}`, () =>
      refuses(withNumber(text), 'invalid_metadata', 'metadata'));
  it('may contain every integer within that range, and fractions', async () => {
    const metadata = {
      a: Number.MAX_SAFE_INTEGER,
      b: [{ c: Number.MIN_SAFE_INTEGER }],
      d: 0.1,
      e: -1e-300,
      f: 2.5e3,
    };
    const { body, text } = await takes(withNumber(JSON.stringify(metadata)));
    expect(body['metadata']).to.deep.equal(metadata);
    expect(text).to.include('"a":9007199254740991').and.include('"c":-9007199254740991');
    expect(await metadataOf({ a: '9007199254740993', '9007199254740993': 1 })).to.deep.equal({
      a: '9007199254740993',
      '9007199254740993': 1,
    });
  });
  it('has a description of at most 500 characters, like the body', async () => {
    for (const description of ['', 'x'.repeat(500), '💠'.repeat(500)])
      expect(await metadataOf({ description, a: 1 })).to.deep.equal({ description, a: 1 });
    for (const description of ['x'.repeat(501), '💠'.repeat(501), 'x'.repeat(60_000), 5, null, true, ['x'], { a: 'x' }])
      await refuses({ ...VALID, metadata: { description } }, 'invalid_metadata', 'metadata.description');
    await refuses({ ...VALID, metadata: { ...keys(51), description: 5 } }, 'invalid_metadata', 'metadata.description');
  });
  it('may contain any description that the body’s own replaces', async () => {
    for (const description of ['x'.repeat(501), 5, null, ['x']])
      expect(await metadataOf({ description }, { description: 'body' })).to.deep.equal({ description: 'body' });
  });
});
