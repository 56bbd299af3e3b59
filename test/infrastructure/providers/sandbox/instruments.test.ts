import { expect } from 'chai';
import fc from 'fast-check';
import type { BoletoInstrument } from '../../../../domain/charge/instruments.ts';
import { CURRENCY_DECIMALS, METHOD_RULES, PAYMENT_METHODS } from '../../../../domain/charge/methods.ts';
import { saoPauloDay } from '../../../../domain/kernel/civilDay.ts';
import { encodeRawId, type PaymentId } from '../../../../domain/kernel/ids.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { dueFactor, isBoletoBarcode } from '../../../../domain/methods/boleto.ts';
import { cryptoAmount } from '../../../../domain/methods/cryptoAmount.ts';
import {
  type AcquirerInstrumentRequest,
  sandboxAcquirerInstrument,
} from '../../../../infrastructure/providers/sandbox/instruments.ts';
import { anyTime } from '../../../support/arbitraries.ts';
import { barcodeOfLine, isBoletoLine } from '../../../support/boletoLine.ts';
import { isMultibancoReference } from '../../../support/multibancoReference.ts';
import { parseTimestamp } from '../../../support/timestamp.ts';

const paymentId = encodeRawId(new Uint8Array(16).fill(7)) as PaymentId;
const expiresAt = parseTimestamp('2026-11-24T02:30:00.000Z');
const request = {
  paymentId,
  txid: '00010f107f80abcdeffeff0000090a63',
  amount: toMinor(12_345),
  expiresAt,
  baseUrl: 'https://pay.quita.example',
  metadata: { phone: '+351912345678' },
  documentToken: 'abc',
};
const OTHERS = PAYMENT_METHODS.filter((method) => method !== 'PIX');
const FIRST_CURRENCY = Object.fromEntries(OTHERS.map((method) => [method, METHOD_RULES[method].currencies[0]!]));
const requestOf = (method: AcquirerInstrumentRequest['method'], other: Partial<AcquirerInstrumentRequest> = {}) => ({
  ...request,
  method,
  currency: FIRST_CURRENCY[method]!,
  ...other,
});
const boletoOf = (asked: AcquirerInstrumentRequest): BoletoInstrument => {
  const made = sandboxAcquirerInstrument(asked);
  if (made.method !== 'BOLETO') throw new Error(`${made.method} instead of a boleto`);
  return made;
};
const common = { provider: 'sandbox', expiresAt };

describe("the sandbox's instruments of the other methods", () => {
  // The references, numbers and addresses of a txid, computed by an independent program (Python's hashlib and integers).
  const expected = {
    CREDIT_CARD: {
      reference: 'sbx_2a528gxy9502syp1e1wk4dj982',
      redirectUrl: `https://pay.quita.example/pay/${paymentId}/card`,
    },
    MBWAY: { reference: 'sbx_63r2m5s2rf8wmenz8qj8t55w3a', phone: '+351912345678' },
    MULTIBANCO: { reference: 'sbx_63nz6wmq6sgbgjcnnjxg3t2bgt', entity: '99999', mbReference: '324515722' },
    BOLETO: {
      reference: 'sbx_1hfpmd6e7qrjntyccn4wpn3fhz',
      barcode: '99994163900000123452888432240116199343678802',
      line: '99992888493224011619793436788025416390000012345',
      pdfUrl: `https://pay.quita.example/pay/${paymentId}/boleto.pdf?token=abc`,
    },
    CRYPTO: {
      reference: 'sbx_3gzvh6z9c7nm5hg2zn975cb5mt',
      address: 'TLGg2ELBSRYJXcxqidAfyUPZwVwVJYfYwq',
      network: 'TRON',
      amount: '0.012345',
      currency: 'USDT',
    },
  } as const;
  for (const method of OTHERS) {
    it(`${method} is created from the request`, () => {
      expect(sandboxAcquirerInstrument(requestOf(method))).to.deep.equal({ ...common, method, ...expected[method] });
    });

    it(`${method} is the same for the same request`, () => {
      const again = sandboxAcquirerInstrument(requestOf(method, { paymentId, metadata: { ...request.metadata } }));
      expect(again).to.deep.equal(sandboxAcquirerInstrument(requestOf(method)));
    });

    it(`${method} has another reference for another txid`, () => {
      const other = sandboxAcquirerInstrument(requestOf(method, { txid: request.txid.replace('0', '1') }));
      expect(other.reference).to.not.equal(expected[method].reference);
    });

    it(`${method} is rejected in an unsupported currency`, () => {
      const currency = method === 'CRYPTO' ? 'EUR' : 'USDT';
      expect(() => sandboxAcquirerInstrument(requestOf(method, { currency }))).to.throw(RangeError, currency);
    });
  }

  for (const [currency, network, address, amount] of [
    ['USDT', 'TRON', 'TLGg2ELBSRYJXcxqidAfyUPZwVwVJYfYwq', '0.012345'],
    ['USDC', 'SOLANA', '8c65qFGqUHAKKAkr3KhtF2Tm47bM1vXuPKCp4f2ipaW6', '0.012345'],
    ['BTC', 'BITCOIN', 'bc1qwrlwyma9s7kskxqt74yu43vkn25gvgf2cfwfwa', '0.00012345'],
  ] as const)
    it(`CRYPTO in ${currency} has its address and amount`, () => {
      const { reference } = expected.CRYPTO;
      const made = { ...common, method: 'CRYPTO', reference, currency, network, address, amount };
      expect(sandboxAcquirerInstrument(requestOf('CRYPTO', { currency }))).to.deep.equal(made);
    });

  for (const [what, method, other] of [
    ['MBWAY without a phone', 'MBWAY', { metadata: {} }],
    ['MBWAY with a formatted phone number', 'MBWAY', { metadata: { phone: '+351 912 345 678' } }],
    ['MBWAY with a numeric phone', 'MBWAY', { metadata: { phone: 351_912_345_678 } }],
    ['MBWAY with an array as phone', 'MBWAY', { metadata: { phone: ['+351912345678'] } }],
    ['MULTIBANCO above its maximum amount', 'MULTIBANCO', { amount: toMinor(100_000_000) }],
    ['BOLETO above its maximum amount', 'BOLETO', { amount: toMinor(10_000_000_000) }],
  ] as const)
    it(`${what} is rejected`, () => {
      expect(() => sandboxAcquirerInstrument(requestOf(method, other))).to.throw(RangeError);
    });

  it('a boleto is due on the day of its expiry in São Paulo', () => {
    for (const [at, day] of [
      ['2026-11-24T02:59:59.999Z', '2026-11-23'],
      ['2026-11-24T03:00:00.000Z', '2026-11-24'],
    ] as const) {
      const { barcode } = boletoOf(requestOf('BOLETO', { expiresAt: parseTimestamp(at) }));
      expect(barcode.slice(5, 9)).to.equal(String(dueFactor(day)));
    }
  });
});

describe("laws of the sandbox's instruments", () => {
  const txid = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 });
  const amountOf = (method: AcquirerInstrumentRequest['method']) =>
    fc.integer({ min: 1, max: METHOD_RULES[method].amountMax }).map(toMinor);

  for (const method of OTHERS)
    it(`${method} has a reference, its provider and the expiry of the request`, () => {
      fc.assert(
        fc.property(txid, amountOf(method), (id, amount) => {
          const made = sandboxAcquirerInstrument(requestOf(method, { txid: id, amount }));
          expect(made.reference).to.match(/^sbx_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
          expect([made.method, made.provider, made.expiresAt]).to.deep.equal([method, 'sandbox', expiresAt]);
        }),
      );
    });

  it('a boleto has matching barcode and line, with the bank, due day and amount', () => {
    const due = anyTime.filter((at) => at >= '2000-07-04');
    fc.assert(
      fc.property(txid, amountOf('BOLETO'), due, (id, amount, at) => {
        const { barcode, line } = boletoOf(requestOf('BOLETO', { txid: id, amount, expiresAt: at }));
        expect([isBoletoBarcode(barcode), isBoletoLine(line), barcodeOfLine(line)]).to.deep.equal([
          true,
          true,
          barcode,
        ]);
        expect([barcode.slice(0, 4), barcode.slice(5, 19)]).to.deep.equal([
          '9999',
          `${dueFactor(saoPauloDay(at))}${String(amount).padStart(10, '0')}`,
        ]);
      }),
    );
  });

  it('a Multibanco reference is valid for its entity and amount', () => {
    fc.assert(
      fc.property(txid, amountOf('MULTIBANCO'), (id, amount) => {
        const made = sandboxAcquirerInstrument(requestOf('MULTIBANCO', { txid: id, amount }));
        const isTaken = made.method === 'MULTIBANCO' && isMultibancoReference(made.entity, made.mbReference, amount);
        expect(isTaken).to.equal(true);
      }),
    );
  });

  it('crypto amounts are in whole coins of their currency', () => {
    const currencies = fc.constantFrom(...METHOD_RULES.CRYPTO.currencies);
    fc.assert(
      fc.property(txid, amountOf('CRYPTO'), currencies, (id, amount, currency) => {
        const made = sandboxAcquirerInstrument(requestOf('CRYPTO', { txid: id, amount, currency }));
        expect(made).to.include({ currency, amount: cryptoAmount(amount, CURRENCY_DECIMALS[currency]!) });
      }),
    );
  });
});
