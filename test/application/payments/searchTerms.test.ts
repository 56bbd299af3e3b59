// How the text of the search box is interpreted.
import { expect } from 'chai';
import { areIds, customerTermsOf, SEARCH_MAX, searchTermsOf } from '../../../application/payments/searchTerms.ts';

const RAW = '01hzy3v7q9k2m4n6p8r0s2t4v6';
const meant = (text: string) =>
  searchTermsOf(text)
    .filter(({ by }) => by !== 'reference' && by !== 'customerId')
    .map(({ by, ...value }) => [by, ...Object.values(value)]);

describe('a search text', () => {
  const cases: readonly (readonly [string, readonly unknown[]])[] = [
    [`ch_${RAW}`, [['id', RAW]]],
    [`  tx_${RAW} `, [['id', RAW]]],
    [
      RAW,
      [
        ['id', RAW],
        ['txid', RAW],
      ],
    ],
    ['7978c0c97ea847e78e8849634473c1f1', [['txid', '7978c0c97ea847e78e8849634473c1f1']]],
    ['E12345678202611281015abcDEF12345', [['txid', 'E12345678202611281015abcDEF12345']]],
    ['529.982.247-25', [['document', '52998224725']]],
    [
      '52998224725',
      [
        ['document', '52998224725'],
        ['amount', 52_998_224_725],
      ],
    ],
    ['12.abc.345/01de-35', [['document', '12ABC34501DE35']]],
    ['123.456.789-00', [['document', '12345678900']]],
    ['ana@example.com', [['email', 'ana@example.com']]],
    ['R$ 12,34', [['amount', 1_234]]],
    ['12.34', [['amount', 1_234]]],
    [
      '1234',
      [
        ['amount', 123_400],
        ['amount', 1_234],
      ],
    ],
    ['1.234,5', [['amount', 123_450]]],
    ['0', []],
    ['order 7', []],
  ];
  for (const [text, terms] of cases)
    it(`“${text}” is interpreted as ${JSON.stringify(terms)}`, () => {
      expect(meant(text)).to.deep.equal(terms);
    });
  it('is always also interpreted as an end-to-end id and a customer id', () => {
    expect(searchTermsOf(' order 7 ')).to.deep.equal([
      { by: 'reference', reference: 'order 7' },
      { by: 'customerId', customerId: 'order 7' },
    ]);
  });
  it('is ignored if it is blank, too long or contains a NUL', () => {
    for (const text of ['', '  ', 'x'.repeat(SEARCH_MAX + 1), 'a\0b'])
      expect(searchTermsOf(text), text).to.deep.equal([]);
    expect(searchTermsOf('x'.repeat(SEARCH_MAX))).to.have.length(2);
  });
  it('identifies a single payment only if it is an id', () => {
    for (const text of [RAW, `ch_${RAW}`, 'E12345678202611281015abcDEF12345', 'order 7'])
      expect(areIds(searchTermsOf(text)), text).to.equal(true);
    for (const text of ['529.982.247-25', 'ana@example.com', '12.34'])
      expect(areIds(searchTermsOf(text)), text).to.equal(false);
  });
  it('for a customer is interpreted as a document, an email address or an id', () => {
    expect(customerTermsOf('52998224725').map(({ by }) => by)).to.deep.equal(['customerId', 'document']);
    expect(customerTermsOf('ana@example.com').map(({ by }) => by)).to.deep.equal(['customerId', 'email']);
  });
});
