// The exact text of statements in each format, and the bounds of months.
import { expect } from 'chai';
import { parse } from 'ofx-js';
import { statementText } from '../../../application/statements/statementText.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import { addSums, type LedgerAccount, NO_MONEY, totalOf } from '../../../domain/kernel/journal.ts';
import { type Minor, toMinor } from '../../../domain/kernel/money.ts';
import {
  type Movement,
  movementOf,
  type StatementFacts,
  statementMonth,
} from '../../../domain/presentation/statement.ts';
import { isOfxCurrency } from '../../../domain/presentation/statementOfx.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

const RAW = '0paymentaaaaaaaaaaaaaaaaaa';
const NOVEMBER = statementMonth('2026-11')!;
const FACTS: StatementFacts = {
  ...NOVEMBER,
  accountId: '0acc0000000000000000000001' as AccountId,
  mode: 'live',
  merchantName: 'Café da Ana',
  merchantTaxId: null,
  currency: 'BRL',
  now: parseTimestamp('2026-12-03T12:00:00.000Z'),
  isProvisional: false,
};
const OPENING = { available: toMinor(1_000), pending: toMinor(50), retained: toMinor(0) };

const moved = (
  revision: number,
  at: string,
  amounts: { readonly [Account in LedgerAccount]?: number },
  stream = `payment-${RAW}`,
): Movement =>
  movementOf(stream, revision, parseTimestamp(at), amounts as { readonly [Account in LedgerAccount]?: Minor });

const MOVEMENTS = [
  moved(2, '2026-11-01T03:00:00.000Z', {
    provider_clearing: -10_000,
    merchant_pending: 9_890,
    provider_fees: 10,
    platform_fees: 100,
  }),
  moved(3, '2026-11-02T02:59:59.999Z', { merchant_pending: -9_890, merchant_available: 9_890 }),
  moved(4, '2026-11-20T12:30:15.250Z', { merchant_available: -2_000, refunds_in_transit: 2_000 }),
  moved(9, '2026-12-01T02:59:59.999Z', { merchant_available: -123_450, payouts_in_transit: 123_450 }, `payout-${RAW}`),
];

const textOf = async (
  format: 'csv' | 'ofx',
  facts: StatementFacts,
  movements: readonly Movement[],
): Promise<string> => {
  const pages = async function* () {
    yield movements.slice(0, 2);
    yield movements.slice(2);
  };
  let text = '';
  for await (const part of statementText({ facts, opening: async () => OPENING, movements: pages }, format))
    text += part;
  return text;
};

describe('the kind of a movement', () => {
  for (const [kind, stream, amounts] of [
    ['payment', 'payment', { provider_clearing: -100, merchant_available: 90, provider_fees: 10 }],
    ['payment', 'payment', { provider_clearing: -100, merchant_pending: 100 }],
    ['release', 'payment', { merchant_pending: -5, merchant_available: 5 }],
    ['refund', 'payment', { merchant_available: -5, refunds_in_transit: 5 }],
    ['refund_failed', 'payment', { refunds_in_transit: -5, merchant_available: 5 }],
    ['dispute_hold', 'payment', { merchant_available: -5, merchant_retained: 5 }],
    ['dispute_release', 'payment', { merchant_retained: -5, merchant_available: 5 }],
    ['dispute_loss', 'payment', { merchant_retained: -5, disputes: 5 }],
    ['dispute_loss', 'payment', { merchant_available: -5, disputes: 5 }],
    ['dispute_return', 'payment', { merchant_available: 5, disputes: 0, provider_clearing: -5 }],
    ['dispute_return', 'payment', { merchant_available: 5, disputes: -5 }],
    ['dispute_return', 'payment', { merchant_available: 5, disputes: 2, provider_clearing: -7 }],
    ['bank_return', 'payment', { merchant_available: -3, merchant_retained: -2, provider_clearing: 5 }],
    ['payout', 'payout', { merchant_available: -5, payouts_in_transit: 5 }],
    ['payout_failed', 'payout', { payouts_in_transit: -5, merchant_available: 5 }],
    ['payout', 'payout', { merchant_available: -5, provider_clearing: 4, provider_fees: 1 }],
    ['other', 'tip', { merchant_available: -5, platform_fees: 5 }],
  ] as const)
    it(`is ${kind} for a ${stream} that posts to ${Object.keys(amounts).join(', ')}`, () => {
      const movement = moved(1, '2026-11-20T12:00:00.000Z', amounts, `${stream}-${RAW}`);
      expect(movement.kind).to.equal(kind);
      expect(movement.gross - movement.providerFee - movement.platformFee).to.equal(totalOf(movement));
    });

  it('shows fees only for payments', () => {
    const [{ gross, providerFee, platformFee, reference, id } = {}] = MOVEMENTS;
    expect({ gross, providerFee, platformFee }).to.deep.equal({ gross: 10_000, providerFee: 10, platformFee: 100 });
    expect({ reference, id }).to.deep.equal({ reference: `tx_${RAW}`, id: `${RAW}-2` });
    expect(MOVEMENTS[3]).to.include({ reference: `po_${RAW}`, gross: -123_450, providerFee: 0, platformFee: 0 });
  });
});

describe('statementMonth', () => {
  it('returns the bounds of a month in São Paulo, with and without daylight saving time', () => {
    const bounds = (text: string) => [
      statementMonth(text)?.from,
      statementMonth(text)?.to,
      statementMonth(text)?.lastDay,
    ];
    expect(bounds('2026-02')).to.deep.equal(['2026-02-01T03:00:00.000Z', '2026-03-01T02:59:59.999Z', '2026-02-28']);
    expect(bounds('2018-11')).to.deep.equal(['2018-11-01T03:00:00.000Z', '2018-12-01T01:59:59.999Z', '2018-11-30']);
    expect(bounds('2028-02')[2]).to.equal('2028-02-29');
  });
  for (const text of [
    '2026-13',
    '2026-00',
    '2026-1',
    '26-11',
    '2026-11-01',
    ' 2026-11',
    '3000-01',
    '1914-01',
    '',
    '9999-12',
  ])
    it(`returns null for "${text}"`, () => {
      expect(statementMonth(text)).to.equal(null);
    });
});

describe('a statement as CSV', () => {
  it('has the opening balance, each movement with its running balance, and the closing balance', async () => {
    expect((await textOf('csv', FACTS, MOVEMENTS)).split('\r\n')).to.deep.equal([
      'id,time,type,reference,currency,gross,provider_fee,platform_fee,available,pending,retained,available_balance,pending_balance,retained_balance,description',
      ',2026-11-01T00:00:00.000-03:00,opening,,BRL,,,,,,,1000,50,0,"Saldo inicial: R$ 10,50"',
      `${RAW}-2,2026-11-01T00:00:00.000-03:00,payment,tx_${RAW},BRL,10000,10,100,0,9890,0,1000,9940,0,"Pagamento recebido: R$ 100,00, tarifas de R$ 1,10"`,
      `${RAW}-3,2026-11-01T23:59:59.999-03:00,release,tx_${RAW},BRL,0,0,0,9890,-9890,0,10890,50,0,"Liberação de valor pendente: R$ 98,90"`,
      `${RAW}-4,2026-11-20T09:30:15.250-03:00,refund,tx_${RAW},BRL,-2000,0,0,-2000,0,0,8890,50,0,"Devolução ao pagador: -R$ 20,00"`,
      `${RAW}-9,2026-11-30T23:59:59.999-03:00,payout,po_${RAW},BRL,-123450,0,0,-123450,0,0,-114560,50,0,"Saque: -R$ 1.234,50"`,
      ',2026-11-30T23:59:59.999-03:00,closing,,BRL,,,,,,,-114560,50,0,"Saldo final: -R$ 1.145,10"',
      '',
    ]);
  });

  it('marks a month that has not ended as provisional', async () => {
    const text = await textOf(
      'csv',
      { ...FACTS, now: parseTimestamp('2026-11-20T12:00:00.000Z'), isProvisional: true },
      [],
    );
    expect(text.split('\r\n').slice(1, 3)).to.deep.equal([
      ',2026-11-01T00:00:00.000-03:00,opening,,BRL,,,,,,,1000,50,0,"Saldo inicial: R$ 10,50"',
      ',2026-11-20T09:00:00.000-03:00,provisional,,BRL,,,,,,,1000,50,0,"Saldo provisório, o mês não terminou: R$ 10,50"',
    ]);
  });
});

describe('a statement as OFX', () => {
  it('follows the order of OFX 1.0.2, lists fees separately and omits moves within the balance', async () => {
    const transaction = (type: string, at: string, amount: string, id: string, ref: string, name: string) =>
      `<STMTTRN> <TRNTYPE>${type}</TRNTYPE> <DTPOSTED>${at}[-3:BRT]</DTPOSTED> <TRNAMT>${amount}</TRNAMT> <FITID>${id}</FITID> <REFNUM>${ref}</REFNUM> <NAME>${name}</NAME> </STMTTRN>`;
    const text = await textOf('ofx', FACTS, MOVEMENTS);
    expect(text).to.match(/^[\x20-\x7e\r\n]+$/);
    expect(text.replaceAll('\r\n', ' ').trim()).to.equal(
      [
        'OFXHEADER:100 DATA:OFXSGML VERSION:102 SECURITY:NONE ENCODING:USASCII CHARSET:1252 COMPRESSION:NONE OLDFILEUID:NONE NEWFILEUID:NONE ',
        '<OFX> <SIGNONMSGSRSV1> <SONRS> <STATUS> <CODE>0</CODE> <SEVERITY>INFO</SEVERITY> </STATUS>',
        '<DTSERVER>20261203090000[-3:BRT]</DTSERVER> <LANGUAGE>POR</LANGUAGE> <FI> <ORG>Quita</ORG> <FID>QUITA</FID> </FI> </SONRS> </SIGNONMSGSRSV1>',
        '<BANKMSGSRSV1> <STMTTRNRS> <TRNUID>0</TRNUID> <STATUS> <CODE>0</CODE> <SEVERITY>INFO</SEVERITY> </STATUS> <STMTRS> <CURDEF>BRL</CURDEF>',
        '<BANKACCTFROM> <BANKID>QUITA</BANKID> <ACCTID>00000000000000001-live</ACCTID> <ACCTTYPE>CHECKING</ACCTTYPE> </BANKACCTFROM>',
        '<BANKTRANLIST> <DTSTART>20261101000000[-3:BRT]</DTSTART> <DTEND>20261130235959[-3:BRT]</DTEND>',
        transaction('CREDIT', '20261101000000', '100.00', `${RAW}-2`, `tx_${RAW}`, 'Pagamento recebido'),
        transaction('FEE', '20261101000000', '-1.10', `${RAW}-2f`, `tx_${RAW}`, 'Tarifas do pagamento'),
        transaction('DEBIT', '20261120093015', '-20.00', `${RAW}-4`, `tx_${RAW}`, 'Devolucao ao pagador'),
        transaction('DEBIT', '20261130235959', '-1234.50', `${RAW}-9`, `po_${RAW}`, 'Saque'),
        '</BANKTRANLIST> <LEDGERBAL> <BALAMT>-1145.10</BALAMT> <DTASOF>20261130235959[-3:BRT]</DTASOF> </LEDGERBAL>',
        '<AVAILBAL> <BALAMT>-1145.60</BALAMT> <DTASOF>20261130235959[-3:BRT]</DTASOF> </AVAILBAL>',
        '</STMTRS> </STMTTRNRS> </BANKMSGSRSV1> </OFX>',
      ].join(' '),
    );
  });

  it('is readable by another parser, and its amounts add up', async () => {
    const { OFX } = await parse(await textOf('ofx', FACTS, MOVEMENTS));
    const statement = OFX.BANKMSGSRSV1.STMTTRNRS.STMTRS;
    const cents = (text: string) => Math.round(Number(text) * 100);
    const transactions: readonly { TRNAMT: string; FITID: string }[] = statement.BANKTRANLIST.STMTTRN;
    const sum = transactions.reduce((total, { TRNAMT }) => total + cents(TRNAMT), 0);
    expect(totalOf(OPENING) + sum).to.equal(cents(statement.LEDGERBAL.BALAMT));
    expect(totalOf(MOVEMENTS.reduce(addSums, NO_MONEY))).to.equal(sum);
    expect(new Set(transactions.map(({ FITID }) => FITID)).size).to.equal(4);
  });

  it('respects the field lengths of the specification and marks a month that has not ended', async () => {
    const text = await textOf(
      'ofx',
      { ...FACTS, now: parseTimestamp('2026-11-20T12:00:00.000Z'), isProvisional: true },
      MOVEMENTS,
    );
    const longest = { ACCTID: 22, BANKID: 9, FITID: 255, NAME: 32, REFNUM: 32, TRNUID: 36, CURDEF: 3 };
    for (const [name, length] of Object.entries(longest))
      for (const [, value = ''] of text.matchAll(new RegExp(`<${name}>(.*?)</`, 'g')))
        expect(value.length, name).to.be.within(1, length);
    expect(text).to.include('<MESSAGE>Provisional: the month has not ended</MESSAGE>');
    expect(text).to.include('<DTASOF>20261120090000[-3:BRT]</DTASOF>');
  });

  it('accepts only currencies of three letters', () => {
    expect(['BRL', 'BTC', 'USDT', 'R1L', 'BR'].map(isOfxCurrency)).to.deep.equal([true, true, false, false, false]);
  });
});
