// Amounts are formatted for the reader’s language by one function for pages, PDFs, emails and the command line.
import { expect } from 'chai';
import fc from 'fast-check';
import { AMOUNT_MAX } from '../../../domain/kernel/money.ts';
import { formatAmount, formatCoins } from '../../../domain/presentation/amount.ts';

describe('formatAmount', () => {
  for (const [amount, currency, pt, en] of [
    [0, 'BRL', 'R$ 0,00', 'R$ 0.00'],
    [1, 'BRL', 'R$ 0,01', 'R$ 0.01'],
    [99, 'BRL', 'R$ 0,99', 'R$ 0.99'],
    [12_345, 'BRL', 'R$ 123,45', 'R$ 123.45'],
    [99_999, 'BRL', 'R$ 999,99', 'R$ 999.99'],
    [100_000, 'BRL', 'R$ 1.000,00', 'R$ 1,000.00'],
    [123_456_789, 'BRL', 'R$ 1.234.567,89', 'R$ 1,234,567.89'],
    [AMOUNT_MAX, 'BRL', 'R$ 999.999.999,99', 'R$ 999,999,999.99'],
    [Number.MAX_SAFE_INTEGER, 'BRL', 'R$ 90.071.992.547.409,91', 'R$ 90,071,992,547,409.91'],
    [-1, 'BRL', '-R$ 0,01', '-R$ 0.01'],
    [-123_456, 'BRL', '-R$ 1.234,56', '-R$ 1,234.56'],
    [12_345, 'EUR', '€ 123,45', '€ 123.45'],
    [12_345, 'USD', 'US$ 123,45', 'US$ 123.45'],
    [12_345, 'BTC', 'BTC 0,00012345', 'BTC 0.00012345'],
    [1_234_567_890, 'USDT', 'USDT 1.234,567890', 'USDT 1,234.567890'],
    [12_345, 'GBP', 'GBP 123,45', 'GBP 123.45'],
  ] as const)
    it(`formats ${amount} of ${currency} as ${pt} in Portuguese and ${en} in English`, () => {
      expect([formatAmount(amount, currency, 'pt'), formatAmount(amount, currency, 'en')]).to.deep.equal([pt, en]);
    });

  it('preserves every digit of every amount (law)', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.constantFrom('pt', 'en'), (amount, language) => {
        const text = formatAmount(amount, 'BRL', language);
        expect(text).to.match(
          language === 'pt' ? /^-?R\$ [1-9]?\d{0,2}(\.\d{3})*,\d\d$/ : /^-?R\$ [1-9]?\d{0,2}(,\d{3})*\.\d\d$/,
        );
        expect(Number(text.replaceAll(/[^\d-]/g, ''))).to.equal(amount);
      }),
    );
  });

  it('agrees with Intl for amounts that a float represents exactly (law)', () => {
    const intl = {
      pt: new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }),
      en: new Intl.NumberFormat('en', { style: 'currency', currency: 'BRL' }),
    };
    fc.assert(
      fc.property(
        fc.integer({ min: -AMOUNT_MAX, max: AMOUNT_MAX }),
        fc.constantFrom('pt', 'en'),
        (amount, language) => {
          // Between symbol and number, Intl puts a no-break space in Portuguese and nothing in English.
          const text = intl[language].format(amount / 100).replace(/R\$\u00a0?/, 'R$ ');
          expect(formatAmount(amount, 'BRL', language)).to.equal(text);
        },
      ),
    );
  });

  for (const amount of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
    it(`rejects ${amount}`, () => expect(() => formatAmount(amount, 'BRL', 'pt')).to.throw(RangeError));
});

describe('formatCoins', () => {
  it('uses the decimal mark of the language and keeps every digit', () => {
    expect([formatCoins('0.00012345', 'pt'), formatCoins('0.00012345', 'en')]).to.deep.equal([
      '0,00012345',
      '0.00012345',
    ]);
    expect(formatCoins('12', 'pt')).to.equal('12');
  });
});
