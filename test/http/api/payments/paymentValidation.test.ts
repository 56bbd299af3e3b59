// What POST /v1/payments accepts and rejects, field by field (contract.md Create payment body; rules E2, E3, I4, I5, I11–I14, K6, P1–P3,
// W5, W7).
import { expect } from 'chai';
import type { ErrorCode } from '../../../../domain/kernel/rejection.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { ORDERS, PaymentDesk } from '../../../world/paymentDesk.ts';

const CARD: Body = { amount: 1_234, paymentMethods: ['CREDIT_CARD'] };
const KEYED: Body = { ...CARD, idempotencyKey: 'a-key-of-nobody' };

/** URLs that a payer may mistake for another site. */
const MISLEADING_URLS = [
  'https://shop.example@evil.example/',
  'https://shop.example:443@evil.example/',
  'https://@evil.example/',
  'HTTP://a:b@evil.example',
  'https://evil.example/\u202eelpmaxe.pohs',
  'https://evil.example/\u2066x',
  'https://evil.example/?\u200f',
  'https://evil.example/\u061c',
  'https://evil.example/\u0007',
];

describe('payment validation', () => {
  let gateway: TestGateway;
  let desk: PaymentDesk;
  before(async () => {
    gateway = await openReady();
    desk = await PaymentDesk.open(gateway);
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const takes = (body: Body) => desk.create(body);
  const refuses = (body: Body, code: ErrorCode, param: string | undefined, params?: readonly string[]) =>
    desk.refuses({ ...KEYED, ...body }, code, param, params);

  describe('rejects a wrong type', () => {
    const FIELDS: readonly (readonly [string, ErrorCode])[] = [
      ['amount', 'invalid_amount'],
      ['currency', 'invalid_currency'],
      ['paymentMethods', 'invalid_payment_method'],
      ['customerId', 'invalid_customer'],
      ['customerName', 'invalid_customer'],
      ['customerDocument', 'invalid_customer'],
      ['customerEmail', 'invalid_customer'],
      ['metadata', 'invalid_metadata'],
      ['webhookUrl', 'invalid_url'],
      ['idempotencyKey', 'invalid_idempotency_key'],
    ];
    for (const [field, code] of FIELDS)
      it(field, async () => {
        for (const value of [null, true, [[1]], { a: 1 }, 'x', 7, 1.5])
          if (!fits(field, value)) await refuses({ [field]: value }, code, field);
      });
    /** Returns whether the value has the right type, which other tests cover. */
    const fits = (field: string, value: unknown): boolean => {
      if (field === 'amount') return value === 7;
      if (field === 'metadata') return typeof value === 'object' && value !== null && !Array.isArray(value);
      return field.startsWith('customer') && value === 'x' && field !== 'customerEmail';
    };
    it('rejects missing bodies and bodies that are not an object', async () => {
      await desk.refuses({}, 'invalid_request', undefined, ['amount', 'paymentMethods', 'idempotencyKey']);
      for (const body of ['[]', '"x"', '7', 'null']) await desk.refuses(body, 'invalid_request', undefined, ['']);
      await desk.refuses('{', 'invalid_json', undefined);
    });
    it('reports all problems together, each with its param (E2)', () =>
      refuses({ amount: 0, currency: 'x', paymentMethods: ['CASH'], metadata: 5 }, 'invalid_request', undefined, [
        'amount',
        'currency',
        'paymentMethods',
        'metadata',
      ]));
    it('reports violations of several rules beyond types', () =>
      refuses(
        { paymentMethods: ['MBWAY'], customerEmail: 'x', webhookUrl: 'x', metadata: { returnUrl: 1 } },
        'invalid_request',
        undefined,
        ['currency', 'customerEmail', 'metadata.returnUrl', 'metadata.phone', 'webhookUrl'],
      ));
    it('reports wrong types and violated rules together', () =>
      refuses({ amount: 0, paymentMethods: ['MBWAY'], customerEmail: 'x' }, 'invalid_request', undefined, [
        'amount',
        'currency',
        'customerEmail',
        'metadata.phone',
      ]));
    it('skips rules that depend on an invalid field', async () => {
      await refuses({ paymentMethods: ['MBWAY', 5], customerEmail: 5 }, 'invalid_request', undefined, [
        'paymentMethods',
        'customerEmail',
      ]);
      await desk.refuses(
        { ...KEYED, paymentMethods: ['MBWAY'], currency: 'EUR', metadata: 5 },
        'invalid_metadata',
        'metadata',
      );
    });
  });

  describe('amount (I4)', () => {
    const MAX: readonly (readonly [readonly string[], number, string?])[] = [
      [['PIX'], 99_999_999_999],
      [['CREDIT_CARD'], 99_999_999_999],
      [['MBWAY'], 99_999_999_999, 'EUR'],
      [['CRYPTO'], 99_999_999_999, 'BTC'],
      [['BOLETO'], 9_999_999_999],
      [['PIX', 'BOLETO'], 9_999_999_999],
      [['MULTIBANCO'], 99_999_999, 'EUR'],
      [['MULTIBANCO', 'CREDIT_CARD', 'MBWAY'], 99_999_999, 'EUR'],
    ];
    for (const [paymentMethods, max, currency = 'BRL'] of MAX)
      it(`ranges from 1 to ${max} for ${paymentMethods.join(' and ')}`, async () => {
        const order = { paymentMethods, currency, metadata: { phone: '+351912345678' } };
        for (const amount of [1, max])
          expect(await takes({ ...order, amount })).to.include({ amount, currency, status: 'PENDING' });
        for (const amount of [0, -1, max + 1]) await refuses({ ...order, amount }, 'invalid_amount', 'amount');
      });
    it('is required', () => desk.refuses({ ...KEYED, amount: undefined }, 'invalid_amount', 'amount'));
  });

  describe('currency (P1)', () => {
    const TAKEN: { readonly [method: string]: readonly string[] } = {
      PIX: ['BRL'],
      BOLETO: ['BRL'],
      MBWAY: ['EUR'],
      MULTIBANCO: ['EUR'],
      CRYPTO: ['USDT', 'USDC', 'BTC'],
      CREDIT_CARD: ['BRL', 'EUR', 'USD'],
    };
    for (const [method, taken] of Object.entries(TAKEN))
      it(`may be ${taken.join(', ')} only for ${method}`, async () => {
        for (const currency of ['BRL', 'EUR', 'USD', 'USDT', 'USDC', 'BTC', 'GBP', 'brl'])
          if (taken.includes(currency))
            expect((await takes({ ...ORDERS[method], currency }))['currency']).to.equal(currency);
          else await refuses({ ...ORDERS[method], currency }, 'invalid_currency', 'currency');
      });
    it('defaults to BRL', async () => {
      expect((await takes(CARD))['currency']).to.equal('BRL');
      await refuses({ ...ORDERS['MBWAY'], currency: undefined }, 'invalid_currency', 'currency');
    });
    it('must be accepted by every method', async () => {
      expect((await takes({ ...CARD, paymentMethods: ['BOLETO', 'CREDIT_CARD', 'PIX'] }))['currency']).to.equal('BRL');
      for (const currency of ['BRL', 'EUR', 'USD'])
        await refuses(
          { paymentMethods: ['BOLETO', 'MULTIBANCO', 'CREDIT_CARD'], currency },
          'invalid_currency',
          'currency',
        );
    });
    it('must have 3 to 8 characters', async () => {
      for (const currency of ['', 'BR', 'BRLBRLBRL', 'x'.repeat(500)])
        await refuses({ currency }, 'invalid_currency', 'currency');
    });
  });

  describe('paymentMethods', () => {
    for (const bad of [[], ['CASH'], ['pix'], ['PIX', 'CASH'], [''], [null], [7], [['PIX']], ['PIX', 'PIX'], 'PIX', {}])
      it(`rejects ${JSON.stringify(bad)}`, () =>
        refuses({ paymentMethods: bad }, 'invalid_payment_method', 'paymentMethods'));
    it('are required', () =>
      desk.refuses({ ...KEYED, paymentMethods: undefined }, 'invalid_payment_method', 'paymentMethods'));
    it('are returned in the order sent', async () => {
      for (const paymentMethods of [
        ['PIX', 'BOLETO', 'CREDIT_CARD'],
        ['CREDIT_CARD', 'PIX'],
      ])
        expect((await takes({ ...CARD, paymentMethods }))['paymentMethods']).to.deep.equal(paymentMethods);
    });
  });

  describe('the customer (I5, E3)', () => {
    const MAX = { customerName: 200, customerDocument: 32, customerId: 128 };
    for (const [field, max] of Object.entries(MAX))
      it(`${field} has up to ${max} characters`, async () => {
        await takes({ ...CARD, [field]: 'é'.repeat(max) });
        await refuses({ [field]: 'x'.repeat(max + 1) }, 'invalid_customer', field);
      });
    it('accepts any tax ID and returns it as sent', async () => {
      for (const customerDocument of ['12345678900', '123.456.789-09', 'PT 501 964 843', 'x'])
        expect((await takes({ ...CARD, customerDocument }))['customerDocument']).to.equal(customerDocument);
    });
    it('must have an email address as in RFC 5322', async () => {
      for (const customerEmail of ['ana@example.com', 'a.b+c@x.co', '"a b"@example.com', "o'neil@sub.example.com.br"])
        expect((await takes({ ...CARD, customerEmail }))['customerEmail']).to.equal(customerEmail);
      for (const customerEmail of [
        '',
        'ana',
        'ana@',
        '@x.co',
        'a b@x.co',
        'a@b@x.co',
        'a..b@x.co',
        '.a@x.co',
        'a@x..co',
        'a@-x.co',
        'a@x.co\n',
        `${'a'.repeat(250)}@x.co`,
      ])
        await refuses({ customerEmail }, 'invalid_customer', 'customerEmail');
    });
  });

  describe('metadata (I11, P2, P3)', () => {
    it('loses reserved keys and keeps others', async () => {
      const metadata = {
        order: 1,
        med: 1,
        failure: 1,
        settlement: 1,
        provider: 1,
        fees: 1,
        _x: 1,
        description: 'd',
        constructor: 1,
      };
      expect((await takes({ ...CARD, metadata }))['metadata']).to.deep.equal({ order: 1, description: 'd' });
      const proto = await desk.ask(
        `{"amount":5,"paymentMethods":["PIX"],"idempotencyKey":"${newKey()}","metadata":{"__proto__":{"a":1},"b":2}}`,
      );
      expect([proto.status, proto.body['metadata']]).to.deep.equal([201, { b: 2 }]);
    });
    it('has at most 50 keys and 8,192 bytes', async () => {
      const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
      const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - 8) });
      for (const metadata of [keys(50), ofBytes(8_192)]) await takes({ ...CARD, metadata });
      for (const metadata of [keys(51), ofBytes(8_193)]) await refuses({ metadata }, 'invalid_metadata', 'metadata');
      const nested = `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`;
      await desk.refuses(
        `{"amount":5,"paymentMethods":["PIX"],"idempotencyKey":"12345678","metadata":${nested}}`,
        'invalid_metadata',
        'metadata',
      );
    });
    it('has a description of at most 500 characters', async () => {
      for (const description of ['', 'x'.repeat(500), '💠'.repeat(500)])
        expect((await takes({ ...CARD, metadata: { description } }))['metadata']).to.deep.equal({ description });
      for (const description of ['x'.repeat(501), '💠'.repeat(501), 5, null, ['x'], {}])
        await refuses({ metadata: { description } }, 'invalid_metadata', 'metadata.description');
    });
    it('must not contain integers beyond ±(2^53 − 1) at any depth', async () => {
      const bounds = { a: Number.MAX_SAFE_INTEGER, b: [Number.MIN_SAFE_INTEGER], c: 0.5 };
      expect((await takes({ ...CARD, metadata: bounds }))['metadata']).to.deep.equal(bounds);
      for (const number of ['9007199254740992', '-9007199254740993', '1e300', '1e400'])
        await desk.refuses(
          `{"amount":5,"paymentMethods":["PIX"],"idempotencyKey":"12345678","metadata":{"a":[{"b":${number}}]}}`,
          'invalid_metadata',
          'metadata',
        );
    });
    it('needs a phone number in E.164 for MBWAY (P2)', async () => {
      for (const phone of ['+351912345678', '+5511999990000']) await takes({ ...ORDERS['MBWAY'], metadata: { phone } });
      for (const phone of [
        undefined,
        null,
        '',
        351912345678,
        '351912345678',
        '+351 912345678',
        '+0351912345678',
        '+35191234567890123',
        ['+351912345678'],
      ])
        await refuses({ ...ORDERS['MBWAY'], metadata: { phone } }, 'invalid_metadata', 'metadata.phone');
      await refuses({ ...ORDERS['MBWAY'], metadata: undefined }, 'invalid_metadata', 'metadata.phone');
      await takes({ ...CARD, metadata: { phone: 'ask Ana' } }); // only MBWAY checks it
    });
    it('rejects misleading return URLs in charges too, which accept any other value', async () => {
      const charge = (returnUrl: unknown) => gateway.charge({ metadata: { returnUrl } });
      for (const returnUrl of MISLEADING_URLS)
        expectError(await charge(returnUrl), 400, 'invalid_url', 'metadata.returnUrl');
      for (const returnUrl of ['https://shop.example/a@b?c=@#@', 'shop.example', 'javascript:alert(1)', 7, null])
        expect((await charge(returnUrl)).body['metadata']).to.deep.equal({ returnUrl });
    });
    it('must have an http or https URL as returnUrl (P3)', async () => {
      for (const returnUrl of [
        'https://shop.example/back?order=1#x',
        'http://localhost:8080/',
        `https://x.co/${'a'.repeat(2_035)}`,
      ])
        expect((await takes({ ...CARD, metadata: { returnUrl } }))['metadata']).to.deep.equal({ returnUrl });
      for (const returnUrl of [
        '',
        'shop.example',
        '/back',
        'ftp://x.co',
        'javascript:alert(1)',
        'https://',
        'https:x.co',
        'https://x y.co',
        7,
        null,
        `https://x.co/${'a'.repeat(2_036)}`,
        ...MISLEADING_URLS,
      ])
        await refuses({ metadata: { returnUrl } }, 'invalid_url', 'metadata.returnUrl');
    });
  });

  describe('webhookUrl (W5, W7)', () => {
    it('is validated like an endpoint’s URL', async () => {
      for (const webhookUrl of ['https://example.com/hook', 'http://127.0.0.1:8080/x', 'https://example.com:8443'])
        await takes({ ...CARD, webhookUrl });
      for (const webhookUrl of [
        '',
        'x',
        'ftp://example.com',
        'https://a:b@example.com',
        'https://example.com:22',
        'http://169.254.169.254/',
        `https://example.com/${'x'.repeat(2_048)}`,
      ])
        await refuses({ webhookUrl }, 'invalid_url', 'webhookUrl');
    });
    it('must be public https in live mode, checked before the missing provider', async () => {
      const live = { key: desk.tenant.liveKey };
      for (const webhookUrl of ['http://example.com', 'https://127.0.0.1', 'https://10.0.0.1/x'])
        expectError(
          await gateway.post('/v1/payments', { ...KEYED, webhookUrl }, live),
          400,
          'invalid_url',
          'webhookUrl',
        );
      expectError(
        await gateway.post('/v1/payments', { ...KEYED, webhookUrl: 'https://example.com' }, live),
        422,
        'unprocessable_entity',
      );
    });
  });

  describe('idempotencyKey (K6)', () => {
    it('is required', () => desk.refuses(CARD, 'idempotency_key_required', 'idempotencyKey'));
    it('is required in the body; a header does not replace it', async () => {
      const reply = await gateway.post('/v1/payments', CARD, { ...desk.as, idempotencyKey: newKey() });
      expectError(reply, 400, 'idempotency_key_required', 'idempotencyKey');
    });
    it('has 8 to 128 printable ASCII characters', async () => {
      for (const length of [8, 128]) await takes({ ...CARD, idempotencyKey: 'k'.repeat(length) });
      await takes({ ...CARD, idempotencyKey: ' ~!"{}[]' });
      for (const idempotencyKey of [
        '',
        'k'.repeat(7),
        'k'.repeat(129),
        'tab\there',
        'new\nline',
        'ação-ação',
        'x\u007f345678',
      ])
        await refuses({ idempotencyKey }, 'invalid_idempotency_key', 'idempotencyKey');
    });
  });

  describe('strings (I14), unknown fields (I12)', () => {
    const PLACES: readonly (readonly [Body, ErrorCode, string])[] = [
      [{ customerName: 'a\u0000' }, 'invalid_customer', 'customerName'],
      [{ customerId: '\ud800' }, 'invalid_customer', 'customerId'],
      [{ paymentMethods: ['\u0000'] }, 'invalid_payment_method', 'paymentMethods.0'],
      [{ currency: '\u0000' }, 'invalid_currency', 'currency'],
      [{ metadata: { a: ['\udc00'] } }, 'invalid_metadata', 'metadata.a.0'],
      [{ webhookUrl: 'https://x.co/\u0000' }, 'invalid_url', 'webhookUrl'],
      [{ idempotencyKey: '\u0000'.repeat(8) }, 'invalid_idempotency_key', 'idempotencyKey'],
      [{ unknown: '\u0000' }, 'invalid_request', 'unknown'],
    ];
    for (const [body, code, param] of PLACES)
      it(`reject a NUL or an unpaired surrogate in ${param}`, () => refuses(body, code, param));
    it('ignore unknown fields', async () => {
      const created = await takes({
        ...CARD,
        description: 5,
        payment_method: 'pix',
        constructor: 1,
        customerName: 'Ana 😀',
      });
      expect(created).to.include({ status: 'PENDING', customerName: 'Ana 😀' });
    });
  });
});
