// What a body may be at all: size, encoding, media type, JSON, depth; and whatever else arrives (rules E1, E7).

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
    // Nothing falls due, and is written, while a test looks at what was written.
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
  /** Refused, nothing written, key still free. */
  const refuses = async (raw: string | Buffer, status: number, code: ErrorCode, headers?: Record<string, string>) => {
    const { key, head, reply } = await send(raw, headers);
    const details = expectError(reply, status, code);
    expect(await gateway.storage.store.head()).to.equal(head);
    const after = await gateway.charge({}, { idempotencyKey: key });
    expect([after.status, after.headers.get('idempotent-replayed')]).to.deep.equal([201, null]);
    return details;
  };

  describe('is not JSON', () => {
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
    it('bytes that are no UTF-8 outside a string', () => refuses(Buffer.from([0xff, 0xfe, 0x7b]), 400, 'invalid_json'));
  });

  describe('is not an object', () => {
    for (const text of ['null', '[]', `[${VALID}]`, '"pix"', '5', 'true', '-0', '1e400', '[[[[]]]]'])
      it(text, async () => expect(paramsOf(await refuses(text, 400, 'invalid_request'))).to.deep.equal(['']));
    it('a string with NUL', () => refuses('"\\u0000"', 400, 'invalid_request'));
  });

  describe('is empty', () => {
    const missing = ['amount', 'payment_method'];
    it('lacks what is required', async () => {
      expect(paramsOf(await refuses('', 400, 'invalid_request'))).to.deep.equal(missing);
      expect(paramsOf(await refuses('{}', 400, 'invalid_request'))).to.deep.equal(missing);
    });
    it('also without a content type, and chunked', async () => {
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
    it('64 KiB exactly is taken', async () => {
      expect(Buffer.byteLength(padded(BODY_BYTES_MAX))).to.equal(65_536);
      await takes(padded(65_536));
    });
    it('one byte more is 413', () => refuses(padded(65_537), 413, 'payload_too_large'));
    it('bytes count, not characters', () => refuses(padded(65_536).replace('yy', 'éé'), 413, 'payload_too_large'));
    it('10 MB are 413', () => refuses(Buffer.alloc(10_000_000, 'x'), 413, 'payload_too_large'));
    it('chunked: the same bounds', async () => {
      const chunked = (text: string) =>
        rawCall(gateway, {
          headers: { 'content-type': JSON_TYPE, 'transfer-encoding': 'chunked', 'idempotency-key': newKey() },
          chunks: [text.slice(0, 10), text.slice(10, 40_000), text.slice(40_000)].filter((chunk) => chunk !== ''),
        });
      expect((await chunked(VALID)).status).to.equal(201);
      expect((await chunked(padded(65_536))).status).to.equal(201);
      expectError(await chunked(padded(65_537)), 413, 'payload_too_large');
    });
    it('an announced size is refused without waiting for it', async () => {
      const { testKey } = gateway.tenant;
      const head = `POST /v1/charges HTTP/1.1\r\nHost: x\r\napikey: ${testKey}\r\nContent-Type: application/json\r\nContent-Length: 70000\r\n\r\n{`;
      const answer = await rawSocket(portOf(gateway), head, (text) => text.includes('payload_too_large'));
      expect(answer).to.match(/^HTTP\/1\.1 413 /);
    });
    it('an upload in chunks that never ends is refused as soon as it is too large', async () => {
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
      it(`${type} is 415`, () => refuses(VALID, 415, 'unsupported_media_type', { 'content-type': type }));
    it('none is 415', async () => {
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
      it(`${type} is taken`, () => takes(VALID, { 'content-type': type }));
  });

  describe('charset', () => {
    for (const charset of ['utf-16', 'utf-16le', 'utf-16be', 'utf-32', 'utf-7', 'iso-8859-1', 'us-ascii', 'nonsense'])
      it(`${charset} is 415`, () =>
        refuses(VALID, 415, 'unsupported_media_type', { 'content-type': `${JSON_TYPE}; charset=${charset}` }));
    it('utf-16 carries no NUL past the check', () =>
      refuses(
        Buffer.from('{"amount":5,"payment_method":"pix","description":"\\u0000"}', 'utf16le'),
        415,
        'unsupported_media_type',
        {
          'content-type': `${JSON_TYPE}; charset=utf-16le`,
        },
      ));
    it('a byte order mark is passed over', () => takes(`\ufeff${VALID}`));
    const unreadable = {
      'a byte of Latin-1': [0xe7],
      'a character cut short': [0xc3],
      'an overlong form': [0xc0, 0xaf],
      'half of a surrogate pair': [0xed, 0xa0, 0x80],
      'beyond the last character': [0xf4, 0x90, 0x80, 0x80],
    };
    for (const [what, bytes] of Object.entries(unreadable))
      it(`${what} within a string`, () => {
        const [before, after] = ['{"amount":1,"payment_method":"pix","description":"', '"}'].map((s) => Buffer.from(s));
        return refuses(Buffer.concat([before as Buffer, Buffer.from(bytes), after as Buffer]), 400, 'invalid_json');
      });
  });

  describe('content encoding', () => {
    const encoded = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    for (const [encoding, compress] of Object.entries(encoded)) {
      it(`${encoding} is taken`, async () => {
        await takes(compress(VALID), { 'content-type': JSON_TYPE, 'content-encoding': encoding });
        await takes(compress(padded(65_536)), { 'content-type': JSON_TYPE, 'content-encoding': encoding });
      });
      it(`${encoding}: what is large when unpacked is 413`, () =>
        refuses(compress(padded(65_537)), 413, 'payload_too_large', {
          'content-type': JSON_TYPE,
          'content-encoding': encoding,
        }));
      it(`${encoding}: NUL is seen inside`, async () => {
        const { reply } = await send(compress('{"amount":5,"payment_method":"pix","description":"\\u0000"}'), {
          'content-type': JSON_TYPE,
          'content-encoding': encoding,
        });
        expectError(reply, 400, 'invalid_description', 'description');
      });
    }
    it('what is not gzip is 400', () =>
      refuses(VALID, 400, 'invalid_request', { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' }));
    for (const encoding of ['compress', 'nonsense', 'gzip, gzip'])
      it(`${encoding} is 415`, () =>
        refuses(VALID, 415, 'unsupported_media_type', { 'content-type': JSON_TYPE, 'content-encoding': encoding }));
  });

  describe('depth', () => {
    const deep = (levels: number, inner = ''): string => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
    it('30,000 levels at the top', () => refuses(deep(30_000), 400, 'invalid_request'));
    it('30,000 levels in an unknown field are ignored', () => takes(`${VALID.slice(0, -1)},"x":${deep(30_000)}}`));
    it('30,000 levels in metadata', async () => {
      const { reply } = await send(`${VALID.slice(0, -1)},"metadata":{"x":${deep(30_000)}}}`);
      expectError(reply, 400, 'invalid_metadata', 'metadata');
    });
    it('30,000 levels in metadata with a NUL at the bottom', async () => {
      const { reply } = await send(`${VALID.slice(0, -1)},"metadata":{"x":${deep(30_000, '"\\u0000"')}}}`);
      expectError(reply, 400, 'invalid_metadata', `metadata.x${'.0'.repeat(30_000)}`.slice(0, 127).concat('…'));
    });
    it('10,000 objects in each other', async () => {
      const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
      const { reply } = await send(`${VALID.slice(0, -1)},"metadata":${objects}}`);
      expectError(reply, 400, 'invalid_metadata', 'metadata');
    });
  });

  describe('oddities', () => {
    it('a key given twice is refused (duplicateKeys.test.ts)', async () => {
      await refuses('{"amount":1,"amount":2,"payment_method":"pix"}', 400, 'invalid_json');
    });
    it('a body cut off writes nothing', async () => {
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
    it('a body on a GET is not read', async () => {
      const reply = await rawCall(gateway, {
        method: 'GET',
        path: '/v1/wallets',
        headers: { 'content-type': 'text/plain', 'content-length': '5' },
        chunks: ['hello'],
      });
      expect(reply.status).to.equal(200);
    });
    it('the body of a route that takes none is ignored', async () => {
      for (const reply of [
        await gateway.call('POST', '/v1/sandbox/deliveries/flush'),
        await gateway.post('/v1/sandbox/deliveries/flush', [1]),
      ])
        expect([reply.status, reply.body]).to.deep.equal([200, { pending: 0 }]);
    });
  });

  describe('whatever it is', () => {
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
    const expectAnswer = (reply: Reply<unknown>): void => {
      if (reply.status === 201) return void expect(isCharge(reply.body), reply.text).to.equal(true);
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

    it('any JSON is a 400', () =>
      fc.assert(
        fc.asyncProperty(anything, async (body) => expectAnswer((await send(JSON.stringify(body))).reply)),
        { numRuns: 150 },
      ));
    it('what is nearly a charge is a 201 or a 400 that is documented, and reads back as it was made', () =>
      fc.assert(
        fc.asyncProperty(near, async (body) => {
          const { reply } = await send(JSON.stringify(body));
          expectAnswer(reply);
          if (reply.status === 201)
            expect((await gateway.get(`/v1/charges/${reply.body['id']}`)).text).to.equal(reply.text);
        }),
        { numRuns: 200 },
      ));
    it('any bytes are a 4xx', () =>
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
