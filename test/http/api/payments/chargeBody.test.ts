// Requirements on any body: size, encoding, media type, JSON, depth; and arbitrary bodies (rules E1, E7).

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import type { ErrorCode } from '../../../../domain/kernel/rejection.ts';
import { createChargeRoute } from '../../../../http/api/payments/charges.ts';
import { BODY_BYTES_MAX } from '../../../../http/kernel/body.ts';
import { anyCharacter } from '../../../support/anyCharacter.ts';
import { compileResponse } from '../../../support/compileResponse.ts';
import { newKey, type Reply, type TestGateway } from '../../../world/gateway.ts';
import { type ErrorReply, expectError, openReady, paramsOf, portOf, rawCall, rawSocket } from '../../../world/http.ts';
import { StoppableClock } from '../../../world/stoppableClock.ts';
import { answerSchemaOf, bodyOf } from '../../examples/routeExamples.ts';

const JSON_TYPE = 'application/json';
const VALID = '{"amount":1234,"payment_method":"pix"}';
const padded = (bytes: number): string =>
  `${VALID.slice(0, -1)},"x":"${'y'.repeat(bytes - VALID.length - ',"x":""'.length)}"}`;

describe('charge body', () => {
  let gateway: TestGateway;
  before(async () => {
    // With the clock stopped, nothing comes due and is written while a test compares what was written.
    const clock = new StoppableClock();
    clock.stop();
    gateway = await openReady({ clock });
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  type Sent = { key: string; head: unknown; reply: Reply<Record<string, unknown>> };
  const send = async (
    raw: string | Buffer,
    headers: Record<string, string> = { 'content-type': JSON_TYPE },
  ): Promise<Sent> => {
    const key = newKey();
    const head = await gateway.storage.store.head();
    return { key, head, reply: await gateway.call('POST', '/v1/charges', { raw, headers, idempotencyKey: key }) };
  };
  const takes = async (raw: string | Buffer, headers?: Record<string, string>) => {
    const { reply } = await send(raw, headers);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body;
  };
  /** Expects a rejection that writes nothing and leaves the idempotency key free. */
  const refuses = async (raw: string | Buffer, status: number, code: ErrorCode, headers?: Record<string, string>) => {
    const { key, head, reply } = await send(raw, headers);
    const details = expectError(reply, status, code);
    expect(await gateway.storage.store.head()).to.equal(head);
    const after = await gateway.charge({}, { idempotencyKey: key });
    expect([after.status, after.headers.get('idempotent-replayed')]).to.deep.equal([201, null]);
    return details;
  };

  describe('is rejected as invalid JSON', () => {
    for (const text of [
      'hello',
      '{',
      '}',
      VALID.slice(0, -1),
      `${VALID}x`,
      `${VALID}${VALID}`,
      "{'amount':1}",
      '{"amount":1,}',
      'NaN',
      'undefined',
      '{"amount":01}',
      '\u0000',
      '{"a":"\u0000"}',
      ' ',
      '\n',
      '[',
      '"',
      '//',
      '{"amount":1e}',
    ])
      it(JSON.stringify(text), () => refuses(text, 400, 'invalid_json'));
    it('bytes outside a string that are not UTF-8', () =>
      refuses(Buffer.from([0xff, 0xfe, 0x7b]), 400, 'invalid_json'));
  });

  describe('is rejected if it is not an object', () => {
    for (const text of ['null', '[]', `[${VALID}]`, '"pix"', '5', 'true', '-0', '1e400', '[[[[]]]]'])
      it(text, async () => expect(paramsOf(await refuses(text, 400, 'invalid_request'))).to.deep.equal(['']));
    it('a string with NUL', () => refuses('"\\u0000"', 400, 'invalid_request'));
  });

  describe('if empty', () => {
    const missing = ['amount', 'payment_method'];
    it('lacks the required fields', async () => {
      expect(paramsOf(await refuses('', 400, 'invalid_request'))).to.deep.equal(missing);
      expect(paramsOf(await refuses('{}', 400, 'invalid_request'))).to.deep.equal(missing);
    });
    it('lacks them too without a content type, and chunked', async () => {
      for (const headers of [{}, { 'content-type': JSON_TYPE, 'transfer-encoding': 'chunked' }] as Record<
        string,
        string
      >[])
        expect(paramsOf(expectError(await rawCall(gateway, { headers }), 400, 'invalid_request'))).to.deep.equal(
          missing,
        );
    });
  });

  describe('size', () => {
    it('is accepted at exactly 64 KiB', async () => {
      expect(Buffer.byteLength(padded(BODY_BYTES_MAX))).to.equal(65_536);
      await takes(padded(65_536));
    });
    it('gets 413 at one byte more', () => refuses(padded(65_537), 413, 'payload_too_large'));
    it('counts bytes, not characters', () => refuses(padded(65_536).replace('yy', 'éé'), 413, 'payload_too_large'));
    it('gets 413 at 10 MB', () => refuses(Buffer.alloc(10_000_000, 'x'), 413, 'payload_too_large'));
    it('has the same limits for chunked bodies', async () => {
      const chunked = (text: string) =>
        rawCall(gateway, {
          headers: { 'content-type': JSON_TYPE, 'transfer-encoding': 'chunked', 'idempotency-key': newKey() },
          chunks: [text.slice(0, 10), text.slice(10, 40_000), text.slice(40_000)].filter((chunk) => chunk !== ''),
        });
      expect((await chunked(VALID)).status).to.equal(201);
      expect((await chunked(padded(65_536))).status).to.equal(201);
      expectError(await chunked(padded(65_537)), 413, 'payload_too_large');
    });
    it('gets 413 by its Content-Length, without waiting for the body', async () => {
      const { testKey } = gateway.tenant;
      const head = `POST /v1/charges HTTP/1.1\r\nHost: x\r\napikey: ${testKey}\r\nContent-Type: application/json\r\nContent-Length: 70000\r\n\r\n{`;
      const answer = await rawSocket(portOf(gateway), head, (text) => text.includes('payload_too_large'));
      expect(answer).to.match(/^HTTP\/1\.1 413 /);
    });
    it('gets 413 for an endless chunked upload as soon as it is too large', async () => {
      const { testKey } = gateway.tenant;
      const headers = `Host: x\r\napikey: ${testKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked`;
      const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
      const head = `POST /v1/charges HTTP/1.1\r\n${headers}\r\n\r\n${chunk.repeat(3)}`;
      const answer = await rawSocket(portOf(gateway), head, (text) => text.includes('payload_too_large'));
      expect(answer).to.match(/^HTTP\/1\.1 413 /);
      expect(answer).to.match(/^Connection: close\r$/m);
    });
  });

  describe('media type', () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/vnd.api+json',
      'text/json',
      'application/json-patch+json',
      'nonsense',
    ])
      it(`${type} gets 415`, () => refuses(VALID, 415, 'unsupported_media_type', { 'content-type': type }));
    it('gets 415 if missing', async () => {
      const reply = await rawCall(gateway, { headers: { 'content-length': String(VALID.length) }, chunks: [VALID] });
      expectError(reply, 415, 'unsupported_media_type');
    });
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json ; Charset=utf-8 ; version=1',
      'application/json; version=1',
    ])
      it(`${type} is accepted`, () => takes(VALID, { 'content-type': type }));
  });

  describe('charset', () => {
    for (const charset of ['utf-16', 'utf-16le', 'utf-16be', 'utf-32', 'utf-7', 'iso-8859-1', 'us-ascii', 'nonsense'])
      it(`${charset} gets 415`, () =>
        refuses(VALID, 415, 'unsupported_media_type', { 'content-type': `${JSON_TYPE}; charset=${charset}` }));
    it('utf-16 gets 415, so no NUL bypasses the check', () =>
      refuses(
        Buffer.from('{"amount":5,"payment_method":"pix","description":"\\u0000"}', 'utf16le'),
        415,
        'unsupported_media_type',
        {
          'content-type': `${JSON_TYPE}; charset=utf-16le`,
        },
      ));
    it('utf-8 may begin with a byte order mark', () => takes(`\ufeff${VALID}`));
    const unreadable = {
      'a byte of Latin-1': [0xe7],
      'a character cut short': [0xc3],
      'an overlong form': [0xc0, 0xaf],
      'half of a surrogate pair': [0xed, 0xa0, 0x80],
      'beyond the last character': [0xf4, 0x90, 0x80, 0x80],
    };
    for (const [what, bytes] of Object.entries(unreadable))
      it(`rejects ${what} within a string`, () => {
        const [before, after] = ['{"amount":1,"payment_method":"pix","description":"', '"}'].map((s) => Buffer.from(s));
        return refuses(Buffer.concat([before as Buffer, Buffer.from(bytes), after as Buffer]), 400, 'invalid_json');
      });
  });

  describe('content encoding', () => {
    const encoded = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    for (const [encoding, compress] of Object.entries(encoded)) {
      it(`${encoding} is accepted`, async () => {
        await takes(compress(VALID), { 'content-type': JSON_TYPE, 'content-encoding': encoding });
        await takes(compress(padded(65_536)), { 'content-type': JSON_TYPE, 'content-encoding': encoding });
      });
      it(`${encoding} gets 413 if the decompressed body is too large`, () =>
        refuses(compress(padded(65_537)), 413, 'payload_too_large', {
          'content-type': JSON_TYPE,
          'content-encoding': encoding,
        }));
      it(`${encoding} does not hide a NUL`, async () => {
        const { reply } = await send(compress('{"amount":5,"payment_method":"pix","description":"\\u0000"}'), {
          'content-type': JSON_TYPE,
          'content-encoding': encoding,
        });
        expectError(reply, 400, 'invalid_description', 'description');
      });
    }
    it('gzip gets 400 if the body is not gzip', () =>
      refuses(VALID, 400, 'invalid_request', { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' }));
    for (const encoding of ['compress', 'nonsense', 'gzip, gzip'])
      it(`${encoding} gets 415`, () =>
        refuses(VALID, 415, 'unsupported_media_type', { 'content-type': JSON_TYPE, 'content-encoding': encoding }));
  });

  describe('depth', () => {
    const deep = (levels: number, inner = ''): string => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
    it('is limited at the top: 30,000 levels get 400', () => refuses(deep(30_000), 400, 'invalid_request'));
    it('is unlimited in unknown fields: 30,000 levels are ignored', () =>
      takes(`${VALID.slice(0, -1)},"x":${deep(30_000)}}`));
    it('is limited in metadata: 30,000 levels get 400', async () => {
      const { reply } = await send(`${VALID.slice(0, -1)},"metadata":{"x":${deep(30_000)}}}`);
      expectError(reply, 400, 'invalid_metadata', 'metadata');
    });
    it('is limited in metadata with a NUL at the bottom: 30,000 levels get 400', async () => {
      const { reply } = await send(`${VALID.slice(0, -1)},"metadata":{"x":${deep(30_000, '"\\u0000"')}}}`);
      expectError(reply, 400, 'invalid_metadata', `metadata.x${'.0'.repeat(30_000)}`.slice(0, 127).concat('…'));
    });
    it('is limited in nested objects: 10,000 levels get 400', async () => {
      const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
      const { reply } = await send(`${VALID.slice(0, -1)},"metadata":${objects}}`);
      expectError(reply, 400, 'invalid_metadata', 'metadata');
    });
  });

  describe('in special cases', () => {
    it('is rejected if a key occurs twice (duplicateKeys.test.ts)', async () => {
      await refuses('{"amount":1,"amount":2,"payment_method":"pix"}', 400, 'invalid_json');
    });
    it('writes nothing if it is cut off', async () => {
      const head = await gateway.storage.store.head();
      const { testKey } = gateway.tenant;
      const bytes = `POST /v1/charges HTTP/1.1\r\nHost: x\r\napikey: ${testKey}\r\nIdempotency-Key: ${newKey()}\r\nContent-Type: application/json\r\nContent-Length: ${VALID.length}\r\n\r\n`;
      const { connect } = await import('node:net');
      await new Promise<void>((resolve, reject) => {
        const socket = connect(portOf(gateway), '127.0.0.1', () => socket.end(bytes + VALID.slice(0, 20)));
        socket
          .on('error', reject)
          .on('close', () => resolve())
          .resume();
      });
      expect((await gateway.charge()).status).to.equal(201);
      const head2 = await gateway.storage.store.head();
      expect(Number(head2) - Number(head)).to.equal(2); // the charge after it: created and issued
    });
    it('is not read on a GET', async () => {
      const reply = await rawCall(gateway, {
        method: 'GET',
        path: '/v1/wallets',
        headers: { 'content-type': 'text/plain', 'content-length': '5' },
        chunks: ['hello'],
      });
      expect(reply.status).to.equal(200);
    });
    it('is ignored by a route that takes none', async () => {
      for (const reply of [
        await gateway.call('POST', '/v1/sandbox/deliveries/flush'),
        await gateway.post('/v1/sandbox/deliveries/flush', [1]),
      ])
        expect([reply.status, reply.body]).to.deep.equal([200, { pending: 0 }]);
    });
  });

  describe('with arbitrary content', () => {
    const isCharge = compileResponse(answerSchemaOf(createChargeRoute, 201)!);
    const known = [
      'amount',
      'currency',
      'payment_method',
      'description',
      'expires_in',
      'customer',
      'expected_payer_tax_id',
      'metadata',
    ];
    const text = fc.string({ unit: anyCharacter, maxLength: 40 });
    const anything = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
    const near = fc.record(
      {
        amount: fc.oneof(
          { weight: 4, arbitrary: fc.integer({ min: 1, max: 1_000_000 }) },
          { weight: 1, arbitrary: anything },
        ),
        payment_method: fc.oneof({ weight: 6, arbitrary: fc.constant('pix') }, { weight: 1, arbitrary: anything }),
        description: fc.oneof(text, anything),
        expires_in: fc.oneof(fc.integer(), anything),
        customer: fc.oneof(
          fc.record(
            { name: text, document: fc.constantFrom('12345678909', '1', ''), email: text },
            { requiredKeys: [] },
          ),
          anything,
        ),
        expected_payer_tax_id: fc.oneof(fc.constantFrom('12345678909', '11222333000181'), anything),
        metadata: fc.oneof(fc.dictionary(text, anything), anything),
      },
      { requiredKeys: [] },
    );
    const expectDocumented400 = (reply: Reply<unknown>): void => {
      const { error } = reply.body as ErrorReply;
      expectError(reply, 400, error.code, error.param);
      expect([
        'invalid_request',
        'payer_tax_id_mismatch',
        'customer_name_required',
        ...Object.values(bodyOf(createChargeRoute)!.codes),
      ]).to.include(error.code);
      if (error.param !== undefined) expect([...known, '']).to.include.oneOf([error.param.split('.')[0] as string, '']);
    };

    it('of any JSON gets a documented 400', () =>
      fc.assert(
        fc.asyncProperty(anything, async (body) => expectDocumented400((await send(JSON.stringify(body))).reply)),
        { numRuns: 150 },
      ));
    it('that resembles a charge gets 201 and reads back the same, or a documented 400', () =>
      fc.assert(
        fc.asyncProperty(near, async (body) => {
          const { reply } = await send(JSON.stringify(body));
          if (reply.status !== 201) return expectDocumented400(reply);
          expect(isCharge(reply.body), reply.text).to.equal(true);
          expect((await gateway.get(`/v1/charges/${reply.body['id']}`)).text).to.equal(reply.text);
        }),
        { numRuns: 200 },
      ));
    it('of random bytes gets 400', () =>
      fc.assert(
        fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
          const { reply } = await send(Buffer.from(bytes));
          expect(reply.status).to.equal(400);
          expect((reply.body as unknown as ErrorReply).error.code).to.be.oneOf(['invalid_json', 'invalid_request']);
        }),
        { numRuns: 100 },
      ));
  });
});
