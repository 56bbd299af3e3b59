// The reason of an erasure is stored permanently, so it must not identify the person. It can use words of the person’s orders (rule L3).
import { expect } from 'chai';
import { reasonProblem } from '../../../application/privacy/erasureReason.ts';
import type { Held } from '../../../application/privacy/findPerson.ts';

const HELD = [
  {
    kind: 'payment',
    disputes: [
      {
        data: {
          terms: { reason: 'paid by +55 21 98888-7766 of eva@example.com, order 123456789' },
          appeal: { reason: 'Sold to 529.982.247-25, invoice 17.' },
          ruling: { reason: '2 calls: (11) 96666\u20115544, (31)\u00a095555–4433. CPF 2, (153) 509.460–56, 3 items' },
          evidence: [{ fileName: 'nota-rui-prado.png' }],
        },
      },
    ],
    data: {
      charge: {
        terms: {
          customer: {
            name: 'Ána Souza',
            document: '390.533.447-05',
            email: 'ana@example.com',
            phone: '+5511973571113',
          },
          customerId: 'customer-1',
          metadata: { kind: 'order', note: 'LGPD request', name: 'erasure' },
        },
      },
      transaction: {
        settlement: { incoming: { payer: { name: 'Zé', document: '12345678909' } } },
        refunds: [
          { reason: 'wrong size', destination: '5b0c4e8e-2e2b-4ee1-9d2c-0a53f7f3a111' },
          { reason: 'call +55 41 3222-4444 or, in Lisbon, +351 913 345 678' },
          { reason: 'call (41) 3555-6666' },
          { destination: '+554133334444' },
          { destination: '55612345678' },
        ],
        instruments: [{ phone: '+351912345678' }, { phone: '(81) 94444-3322' }],
      },
    },
  },
] as unknown as readonly Held[];
const PERSONAL = /^must not contain the person’s name, document, email address, phone or Pix key/;

describe('the reason of an erasure', () => {
  for (const reason of [
    'LGPD request 17, order 1234, wrong size',
    'erasure of customer-1',
    'Souza & Lima Advogados, case 2026-11-29',
    'banana',
    'Zélia asked',
    'wrong size, order 123456789, invoice 17',
    'protocol 3905334470',
    'protocol 612345678',
    'order 97357-1113',
  ])
    it(`can be “${reason}”`, () => {
      expect(reasonProblem(reason, { document: '39053344705' }, HELD)).to.equal(null);
    });

  for (const reason of [
    'ANA SOUZA asked',
    'asked by ana  souza.',
    'for Zé',
    '390.533.447-05',
    'CPF 39053344705',
    'CPF 123.456.789-09',
    'mail of ANA@example.com',
    'called +55 11 97357-1113',
    'called (11) 97357-1113',
    'called 11973571113',
    'key 41 3333-4444',
    'key +55 41 3333-4444',
    'called 912 345 678',
    'called (41) 3222-4444',
    'called 913 345 678',
    'called +55 41 3555-6666',
    'called +5581944443322',
    'CPF 52998224725',
    'mail of Eva@example.com',
    'called 5521988887766',
    'called 11966665544',
    'called +55 (31) 95555-4433, request 17',
    'CPF 15350946056',
    'request 17, CPF 153.509.460–56',
    'file nota-rui-prado.png',
    'key 5B0C4E8E-2E2B-4EE1-9D2C-0A53F7F3A111',
  ])
    it(`can’t be “${reason}”`, () => {
      expect(reasonProblem(reason, { payment: 'p' as never }, HELD)).to.match(PERSONAL);
    });

  it('can’t contain what the operator searched for, even if no data is stored', () => {
    expect(reasonProblem('for 390.533.447-05', { document: '39053344705' }, [])).to.match(PERSONAL);
    expect(reasonProblem('request 17, 390.533.447-05', { document: '39053344705' }, [])).to.match(PERSONAL);
    expect(reasonProblem('for Ana@example.com', { email: 'ana@example.com' }, [])).to.match(PERSONAL);
  });

  it('has 1 to 500 characters', () => {
    for (const [length, problem] of [
      [0, 'must have 1 to 500 characters'],
      [1, null],
      [500, null],
      [501, 'must have 1 to 500 characters'],
    ] as const)
      expect(reasonProblem('x'.repeat(length), { payment: 'p' as never }, HELD), String(length)).to.equal(problem);
  });
});
