// What POST /v1/charges accepts and rejects, field by field (contract.md Create charge body; rules E2, E3, I5, I11, I12, I14).
// chargeBody.test.ts covers malformed bodies, chargeMetadata.test.ts covers metadata.
import { expect } from 'chai';
import type { ErrorCode } from '../../../../domain/kernel/rejection.ts';
import { type Body, chargeSender, ROUTES, VALID } from '../../../world/chargeSender.ts';
import type { Reply, TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, paramsOf } from '../../../world/http.ts';
import { StoppableClock } from '../../../world/stoppableClock.ts';

const CPF = '12345678909';
const MASKED_CPF = '123.456.789-09';
const CNPJ = '11222333000181';
const ALPHANUMERIC_CNPJ = '12ABC34501DE35';
const NAME = { name: 'Ana Souza' };

describe('charge validation', () => {
  let gateway: TestGateway;
  before(async () => {
    // With the clock stopped, nothing comes due and is written while a test compares what was written.
    const clock = new StoppableClock();
    clock.stop();
    gateway = await openReady({ clock });
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const { refuses, takes, send } = chargeSender(() => gateway);

  const SAMPLES = {
    null: null,
    number: 7,
    string: 'x',
    array: [],
    object: {},
    boolean: true,
    'nested array': [[1]],
  } as const;
  const FIELDS: { readonly [path: string]: { readonly type: string; readonly code: ErrorCode } } = {
    amount: { type: 'number', code: 'invalid_amount' },
    currency: { type: 'enum', code: 'invalid_currency' },
    description: { type: 'string', code: 'invalid_description' },
    expires_in: { type: 'bounded', code: 'invalid_expires_in' },
    customer: { type: 'object', code: 'invalid_customer' },
    'customer.name': { type: 'string', code: 'invalid_customer' },
    'customer.document': { type: 'checked', code: 'invalid_customer' },
    'customer.email': { type: 'string', code: 'invalid_customer' },
    'customer.phone': { type: 'string', code: 'invalid_customer' },
    metadata: { type: 'object', code: 'invalid_metadata' },
  };
  const withField = (path: string, value: unknown): Body => {
    const [field, inner] = path.split('.') as [string, string?];
    return { ...VALID, [field]: inner === undefined ? value : { [inner]: value } };
  };

  describe('rejects a wrong type', () => {
    for (const [path, { type, code }] of Object.entries(FIELDS))
      for (const [name, value] of Object.entries(SAMPLES))
        if (name !== type) it(`${path}: ${name}`, () => refuses(withField(path, value), code, path));

    for (const [name, value] of Object.entries(SAMPLES))
      it(`payment_method: ${name} is rejected, but set by the shortcut route`, async () => {
        expectError(await send({ ...VALID, payment_method: value }), 400, 'invalid_payment_method', 'payment_method');
        expect((await takes({ ...VALID, payment_method: value }, ROUTES[1])).body['payment_method']).to.equal('pix');
      });
    for (const method of ['PIX', 'Pix', 'card', ' pix', 'pix ', ''])
      it(`payment_method: ${JSON.stringify(method)} is rejected`, async () =>
        void expectError(
          await send({ ...VALID, payment_method: method }),
          400,
          'invalid_payment_method',
          'payment_method',
        ));
    it('payment_method: missing is rejected, but set by the shortcut route', async () => {
      expectError(await send({ amount: 5 }), 400, 'invalid_payment_method', 'payment_method');
      expect((await takes({ amount: 5 }, ROUTES[1])).body['payment_method']).to.equal('pix');
    });

    for (const [name, value] of Object.entries(SAMPLES))
      it(`expected_payer_tax_id: ${name}`, () =>
        refuses(
          { ...VALID, customer: NAME, expected_payer_tax_id: value },
          'invalid_payer_tax_id',
          'expected_payer_tax_id',
        ));
  });

  describe('amount', () => {
    for (const text of [
      '0',
      '-1',
      '-0',
      '100000000000',
      '1.5',
      '"100"',
      '1e400',
      '-1e400',
      '1e-400',
      '1e11',
      '0.1',
      '99999999999.5',
      '9007199254740993',
    ])
      it(`rejects ${text}`, () => refuses(`{"payment_method":"pix","amount":${text}}`, 'invalid_amount', 'amount'));
    for (const [text, amount] of [
      ['1', 1],
      ['99999999999', 99_999_999_999],
      ['1e2', 100],
      ['100.0', 100],
      ['0.1e1', 1],
    ] as const)
      it(`reads ${text} as ${amount}`, async () =>
        expect((await takes(`{"payment_method":"pix","amount":${text}}`)).body['amount']).to.equal(amount));
    it('is required', () => refuses({ payment_method: 'pix' }, 'invalid_amount', 'amount'));
  });

  describe('currency', () => {
    for (const currency of ['brl', 'EUR', '', 'BRL ', 'BRLBRL'])
      it(`rejects ${JSON.stringify(currency)}`, () => refuses({ ...VALID, currency }, 'invalid_currency', 'currency'));
    it('is BRL, also by default', async () => {
      expect((await takes({ ...VALID, currency: 'BRL' })).body['currency']).to.equal('BRL');
      expect((await takes(VALID)).body['currency']).to.equal('BRL');
    });
  });

  describe('expires_in', () => {
    const lifetimeOf = ({ body }: Reply<Body>): number =>
      (Date.parse((body['pix'] as { expires_at: string }).expires_at) - Date.parse(body['created_at'] as string)) /
      1000;
    for (const value of [59, 0, -1, 60.5, '3600'])
      it(`rejects ${JSON.stringify(value)}`, () =>
        refuses({ ...VALID, expires_in: value }, 'invalid_expires_in', 'expires_in'));
    for (const [sent, seconds] of [
      [60, 60],
      [86_399, 86_399],
      [86_400, 86_400],
      [86_401, 86_400],
      [Number.MAX_SAFE_INTEGER, 86_400],
      [2 ** 53, 86_400],
      [1e300, 86_400],
      [undefined, 3600],
    ] as const)
      it(`of ${sent} means ${seconds} s`, async () =>
        expect(lifetimeOf(await takes({ ...VALID, expires_in: sent }))).to.equal(seconds));
  });

  describe('lengths', () => {
    for (const [path, most] of [
      ['description', 500],
      ['customer.name', 200],
      ['customer.email', 254],
      ['customer.phone', 32],
    ] as const) {
      const textOf = ({ body }: Reply<Body>) =>
        path === 'description'
          ? (body['metadata'] as Body)['description']
          : (body['customer'] as Body)[path.slice('customer.'.length)];
      for (const letter of ['a', 'ç', '💠'])
        it(`${path}: at most ${most} times ${letter}`, async () => {
          expect(textOf(await takes(withField(path, letter.repeat(most))))).to.equal(letter.repeat(most));
          await refuses(withField(path, letter.repeat(most + 1)), FIELDS[path]!.code, path);
        });
    }
    it('customer.document: at most 32 characters, including blanks', () =>
      refuses(withField('customer.document', `${' '.repeat(22)}${CPF}`), 'invalid_customer', 'customer.document'));
  });

  describe('customer', () => {
    it('is returned as sent, with null for missing fields', async () => {
      const empty = { name: null, document: null, email: null, phone: null };
      expect((await takes(VALID)).body['customer']).to.deep.equal(empty);
      expect((await takes({ ...VALID, customer: {} })).body['customer']).to.deep.equal(empty);
      expect((await takes({ ...VALID, customer: { phone: '+5511999', extra: 1 } })).body['customer']).to.deep.equal({
        ...empty,
        phone: '+5511999',
      });
      const all = { name: '"Ana" <b>', document: MASKED_CPF, email: 'a@b', phone: '+55 (11) 9' };
      expect((await takes({ ...VALID, customer: all })).body['customer']).to.deep.equal(all);
    });
    for (const document of [
      CPF,
      MASKED_CPF,
      CNPJ,
      '11.222.333/0001-81',
      ALPHANUMERIC_CNPJ,
      '12.ABC.345/01DE-35',
      '12.abc.345/01de-35',
    ])
      it(`returns document ${document} as sent`, async () =>
        expect(((await takes(withField('customer.document', document))).body['customer'] as Body)['document']).to.equal(
          document,
        ));
    for (const document of [
      '',
      '12345678900',
      '11111111111',
      '1234567890',
      '123456789099',
      '11222333000180',
      '12ABC34501DE34',
      'PT123456789',
      '１２３４５６７８９０９',
    ])
      it(`rejects document ${JSON.stringify(document)}`, () =>
        refuses(withField('customer.document', document), 'invalid_customer', 'customer.document'));
  });

  describe('payer lock (E3)', () => {
    const lock = (expected: unknown, customer: Body = NAME): Body => ({
      ...VALID,
      expected_payer_tax_id: expected,
      customer,
    });
    for (const taxId of [CPF, CNPJ, ALPHANUMERIC_CNPJ])
      it(`returns ${taxId}`, async () =>
        expect((await takes(lock(taxId))).body['expected_payer_tax_id']).to.equal(taxId));
    it('is omitted if none was sent', async () =>
      expect((await takes(VALID)).body).to.not.have.property('expected_payer_tax_id'));
    for (const bad of [
      MASKED_CPF,
      '12345678900',
      '00000000000',
      ` ${CPF}`,
      `${CPF} `,
      '12abc34501de35',
      '12ABC34501DE36',
      '',
      'x'.repeat(33),
    ])
      it(`rejects ${JSON.stringify(bad)}`, () => refuses(lock(bad), 'invalid_payer_tax_id', 'expected_payer_tax_id'));
    it('matches the document with or without a mask', async () => {
      for (const [taxId, document] of [
        [CPF, CPF],
        [CPF, MASKED_CPF],
        [CNPJ, '11.222.333/0001-81'],
        [ALPHANUMERIC_CNPJ, '12.abc.345/01de-35'],
      ] as const)
        expect(((await takes(lock(taxId, { ...NAME, document }))).body['customer'] as Body)['document']).to.equal(
          document,
        );
    });
    it('must match the document', () =>
      refuses(lock(CPF, { ...NAME, document: CNPJ }), 'payer_tax_id_mismatch', 'expected_payer_tax_id'));
    it('needs a name', async () => {
      await refuses({ ...VALID, expected_payer_tax_id: CPF }, 'customer_name_required', 'customer.name');
      await refuses(lock(CPF, { document: CPF }), 'customer_name_required', 'customer.name');
      await refuses(lock(CPF, { name: '' }), 'customer_name_required', 'customer.name');
    });
  });

  describe('with several problems', () => {
    it('reports all as invalid_request without a param', () =>
      refuses({ ...VALID, amount: 0, currency: 'EUR', expires_in: 1 }, 'invalid_request', undefined, [
        'amount',
        'currency',
        'expires_in',
      ]));
    it('reports violations of rules beyond types', () =>
      refuses({ ...VALID, expected_payer_tax_id: '1', customer: { document: '1' } }, 'invalid_request', undefined, [
        'customer.document',
        'expected_payer_tax_id',
        'customer.name',
      ]));
    it('reports wrong types and violated rules together', async () => {
      const metadata = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, i]));
      const customer = { name: 5, document: '1' };
      await refuses(
        { ...VALID, amount: 0, customer, metadata, expected_payer_tax_id: '1' },
        'invalid_request',
        undefined,
        ['amount', 'customer.name', 'customer.document', 'metadata', 'expected_payer_tax_id'],
      );
    });
    it('skips rules that depend on an invalid field', async () => {
      const lock = { expected_payer_tax_id: '12345678909' };
      await refuses({ ...VALID, ...lock, customer: 5 }, 'invalid_customer', 'customer');
      await refuses(
        { ...VALID, ...lock, customer: { name: 5, document: '12345678909' } },
        'invalid_customer',
        'customer.name',
      );
      await refuses(
        { ...VALID, ...lock, customer: { name: 'Ana', document: 5 } },
        'invalid_customer',
        'customer.document',
      );
    });
    it('reports one problem per field', () => refuses({ ...VALID, amount: -1.5 }, 'invalid_amount', 'amount'));
    it('reports all missing fields of an empty body', async () => {
      expect(paramsOf(expectError(await send({}), 400, 'invalid_request'))).to.deep.equal(['amount', 'payment_method']);
      expect(paramsOf(expectError(await send({}, ROUTES[1]), 400, 'invalid_amount', 'amount'))).to.deep.equal([
        'amount',
      ]);
    });
  });

  describe('unknown fields', () => {
    it('are ignored, including names of Object properties', async () => {
      const more =
        '"customer_id":"c","amount_cents":"x","toString":1,"hasOwnProperty":{},"constructor":null,"__proto__":{"payment_method":"card"}';
      const { body } = await takes(`{"amount":5,"payment_method":"pix",${more}}`);
      expect(Object.keys(body)).to.deep.equal([
        'id',
        'object',
        'amount',
        'amount_refunded',
        'currency',
        'status',
        'payment_method',
        'customer',
        'pix',
        'checkout_url',
        'settlement',
        'metadata',
        'created_at',
      ]);
    });
  });
});
