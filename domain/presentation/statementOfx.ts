// A statement as OFX 1.0.2, the version that Brazilian banks export and accounting programs import. The ledger balance contains all money
// of the merchant. A hold or a release only moves money within it, so it is not listed as a transaction.
import { CURRENCY_DECIMALS } from '../charge/methods.ts';
import { saoPauloTime } from '../kernel/civilDay.ts';
import { type MerchantSums, totalOf } from '../kernel/journal.ts';
import { add, decimalText, type Minor, negate } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { MOVEMENT_NAMES, type Movement, type StatementFacts } from './statement.ts';

const HEADER = [
  'OFXHEADER:100',
  'DATA:OFXSGML',
  'VERSION:102',
  'SECURITY:NONE',
  'ENCODING:USASCII',
  'CHARSET:1252',
  'COMPRESSION:NONE',
  'OLDFILEUID:NONE',
  'NEWFILEUID:NONE',
  '',
  '',
].join('\r\n');

/** Longest ACCTID is 22 characters. */
const ACCOUNT_DIGITS = 17;

/** Returns whether OFX can express the currency: it allows three letters (ISO 4217). */
export const isOfxCurrency = (currency: string): boolean => /^[A-Z]{3}$/.test(currency);

/** Text in ASCII. It contains no characters to escape, because no text in the file comes from a person. */
const ascii = (text: string): string => text.normalize('NFD').replaceAll(/[^\x20-\x7e]/g, '');
const element = (name: string, value: string | number): string => `<${name}>${value}</${name}>\r\n`;
const aggregate = (name: string, ...parts: readonly string[]): string => `<${name}>\r\n${parts.join('')}</${name}>\r\n`;

const dateOf = (at: Timestamp): string => {
  const { local, offset } = saoPauloTime(at);
  return `${local.slice(0, 19).replaceAll(/[-T:]/g, '')}[${offset}:BRT]`;
};

const amountOf = ({ currency }: StatementFacts, amount: Minor): string =>
  decimalText(amount, CURRENCY_DECIMALS[currency] ?? 2);

const status = (message: string | null): string =>
  aggregate(
    'STATUS',
    element('CODE', 0),
    element('SEVERITY', 'INFO'),
    message === null ? '' : element('MESSAGE', message),
  );

const transaction = (
  facts: StatementFacts,
  { at, reference }: Movement,
  type: string,
  amount: Minor,
  id: string,
  name: string,
) =>
  aggregate(
    'STMTTRN',
    element('TRNTYPE', type),
    element('DTPOSTED', dateOf(at)),
    element('TRNAMT', amountOf(facts, amount)),
    element('FITID', id),
    element('REFNUM', reference),
    element('NAME', ascii(name).slice(0, 32)),
  );

const asOf = ({ isProvisional, now, to }: StatementFacts): Timestamp => (isProvisional ? now : to);

export const OFX = {
  head: (facts: StatementFacts): string =>
    `${HEADER}<OFX>\r\n${aggregate(
      'SIGNONMSGSRSV1',
      aggregate(
        'SONRS',
        status(null),
        element('DTSERVER', dateOf(facts.now)),
        element('LANGUAGE', 'POR'),
        aggregate('FI', element('ORG', 'Quita'), element('FID', 'QUITA')),
      ),
    )}<BANKMSGSRSV1>\r\n<STMTTRNRS>\r\n${element('TRNUID', 0)}${status(
      facts.isProvisional ? 'Provisional: the month has not ended' : null,
    )}<STMTRS>\r\n${element('CURDEF', facts.currency)}${aggregate(
      'BANKACCTFROM',
      element('BANKID', 'QUITA'),
      element('ACCTID', `${facts.accountId.slice(-ACCOUNT_DIGITS)}-${facts.mode}`),
      element('ACCTTYPE', 'CHECKING'),
    )}<BANKTRANLIST>\r\n${element('DTSTART', dateOf(facts.from))}${element('DTEND', dateOf(asOf(facts)))}`,
  /** The fees of a payment are a transaction of their own. */
  line: (facts: StatementFacts, movement: Movement): string => {
    const { id, kind, gross, providerFee, platformFee } = movement;
    const fees = add(providerFee, platformFee);
    const type = gross < 0 ? 'DEBIT' : 'CREDIT';
    return [
      gross === 0 ? '' : transaction(facts, movement, type, gross, id, MOVEMENT_NAMES[kind]),
      fees === 0 ? '' : transaction(facts, movement, 'FEE', negate(fees), `${id}f`, 'Tarifas do pagamento'),
    ].join('');
  },
  end: (facts: StatementFacts, closing: MerchantSums): string => {
    const balance = (name: string, amount: Minor) =>
      aggregate(name, element('BALAMT', amountOf(facts, amount)), element('DTASOF', dateOf(asOf(facts))));
    const balances = balance('LEDGERBAL', totalOf(closing)) + balance('AVAILBAL', closing.available);
    return `</BANKTRANLIST>\r\n${balances}</STMTRS>\r\n</STMTTRNRS>\r\n</BANKMSGSRSV1>\r\n</OFX>\r\n`;
  },
};
