// Parses a BR code strictly: any deviation from pix.md is rejected with a reason, and nothing is corrected.
import type { Minor } from '../../../domain/kernel/money.ts';
import {
  AMOUNT_TEXT_MAX,
  CHECKSUM_HEAD,
  CITY_MAX,
  crc16,
  isUrlField,
  NAME_MAX,
  NO_TXID,
  PIX_GUI,
} from '../../../domain/pix/brCode.ts';
import { parseAmountText } from './amountText.ts';
import { parseAscendingTlv } from './tlv.ts';

interface CommonBrCode {
  /** False if the code may be paid only once (01 = 12). */
  readonly reusable: boolean;
  /** Centavos; null if the code has no amount. */
  readonly amount: Minor | null;
  readonly merchantName: string;
  readonly merchantCity: string;
  /** Null for `***`. */
  readonly txid: string | null;
  /** Location of a recurring payment's authorization (fields 80 to 99), in composite codes. */
  readonly recurrenceUrl: string | null;
}
interface StaticBrCode extends CommonBrCode {
  readonly kind: 'static';
  readonly key: string;
  readonly description: string | null;
}
interface DynamicBrCode extends CommonBrCode {
  readonly kind: 'dynamic';
  readonly url: string;
}
export type BrCode = StaticBrCode | DynamicBrCode;
type BrCodeParse = { readonly ok: true; readonly brCode: BrCode } | { readonly ok: false; readonly reason: string };

type Fields = ReadonlyMap<string, string>;
/** Returns the reason to reject the code, or null if this rule accepts it. */
type Rule = (fields: Fields) => string | null;

const BR_CODE_MAX = 512;
/** Pix key of a static code. Only the DICT knows whether it is registered. */
const KEY_FIELD = /^[!-~]{1,77}$/;
const CONTROL = /\p{Cc}/u;
const CHECKSUM = /^[0-9A-F]{4}$/;
const CATEGORY = /^[0-9]{4}$/;
const ISPB = /^[0-9A-Z]{8}$/;
/** Also allows the hyphen of the manual’s first edition, because such codes are still in use. */
const STATIC_TXID = /^[A-Za-z0-9-]{1,25}$/;

const textProblem = (code: string): string | null => {
  if (code.length > BR_CODE_MAX) return `longer than ${BR_CODE_MAX} characters`;
  if (!code.isWellFormed() || CONTROL.test(code)) return 'characters that no code has';
  if (code.slice(-8, -4) !== CHECKSUM_HEAD || !CHECKSUM.test(code.slice(-4))) return 'no checksum (63) at the end';
  return crc16(code.slice(0, -4)) === code.slice(-4) ? null : 'wrong checksum (63)';
};

const isWithin = (id: string, first: string, last: string): boolean => id >= first && id <= last;
const templates = (fields: Fields, first: string, last: string): (Fields | null)[] =>
  [...fields].filter(([id]) => isWithin(id, first, last)).map(([, value]) => parseAscendingTlv(value));
const isPix = (template: Fields | null): template is Fields => template?.get('00')?.toLowerCase() === PIX_GUI;
const pixAccount = (fields: Fields): Fields => templates(fields, '26', '51').find(isPix)!;
const pixRecurrence = (fields: Fields): Fields | undefined => templates(fields, '80', '99').find(isPix);

const constantsRule: Rule = (fields) => {
  if (fields.get('00') !== '01') return 'payload format (00) is not 01';
  if (!['11', '12', undefined].includes(fields.get('01'))) return 'point of initiation (01) is neither 11 nor 12';
  if (!CATEGORY.test(fields.get('52') ?? '')) return 'merchant category (52) is not four digits';
  if (fields.get('53') !== '986') return 'currency (53) is not 986';
  if (fields.get('58') !== 'BR') return 'country (58) is not BR';
  if (fields.has('63')) return 'a second checksum (63)';
  return null;
};

/** A TLV value is never empty. */
const hasLength = (text: string | undefined, max: number): boolean => text !== undefined && [...text].length <= max;

const receiverRule: Rule = (fields) => {
  if (!hasLength(fields.get('59'), NAME_MAX)) return `merchant name (59) is not 1 to ${NAME_MAX} characters`;
  if (!hasLength(fields.get('60'), CITY_MAX)) return `merchant city (60) is not 1 to ${CITY_MAX} characters`;
  return null;
};

const amountRule: Rule = (fields) => {
  const text = fields.get('54');
  if (text === undefined) return null;
  return text.length <= AMOUNT_TEXT_MAX && (parseAmountText(text) ?? 0) > 0 ? null : 'amount (54) is not an amount';
};

const templatesRule: Rule = (fields) => {
  const accounts = templates(fields, '26', '51');
  if ([...accounts, ...templates(fields, '80', '99')].some((template) => !template?.has('00')))
    return 'a template (26 to 51, 80 to 99) is malformed';
  const pix = accounts.filter(isPix).length;
  if (pix === 0) return `no account information of ${PIX_GUI}`;
  if (pix > 1 || templates(fields, '80', '99').filter(isPix).length > 1) return `${PIX_GUI} twice`;
  return null;
};

const accountRule: Rule = (fields) => {
  const account = pixAccount(fields);
  const [key, url, ispb] = [account.get('01'), account.get('25'), account.get('03')];
  if (key === undefined && url === undefined) return 'neither key nor location';
  if (key !== undefined && url !== undefined) return 'both key and location';
  if (key !== undefined && !KEY_FIELD.test(key)) return 'key is malformed';
  if (url !== undefined && !isUrlField(url)) return 'location is malformed';
  if (ispb !== undefined && !ISPB.test(ispb)) return 'ISPB is malformed';
  const recurrence = pixRecurrence(fields);
  return recurrence === undefined || isUrlField(recurrence.get('25') ?? '') ? null : 'recurrence location is malformed';
};

const txidRule: Rule = (fields) => {
  const txid = parseAscendingTlv(fields.get('62') ?? '')?.get('05');
  if (txid === undefined) return 'no txid (62-05)';
  if (txid === NO_TXID) return null;
  if (pixAccount(fields).has('25')) return `txid (62-05) of a dynamic code is not ${NO_TXID}`;
  return STATIC_TXID.test(txid) ? null : 'txid (62-05) is malformed';
};

/** Rules in order of application. Later rules rely on earlier ones. */
const RULES: readonly Rule[] = [constantsRule, receiverRule, amountRule, templatesRule, accountRule, txidRule];

const brCodeOf = (fields: Fields): BrCode => {
  const account = pixAccount(fields);
  const txid = parseAscendingTlv(fields.get('62')!)!.get('05')!;
  const common: CommonBrCode = {
    reusable: fields.get('01') !== '12',
    amount: fields.has('54') ? parseAmountText(fields.get('54')!) : null,
    merchantName: fields.get('59')!,
    merchantCity: fields.get('60')!,
    txid: txid === NO_TXID ? null : txid,
    recurrenceUrl: pixRecurrence(fields)?.get('25') ?? null,
  };
  const url = account.get('25');
  if (url !== undefined) return { kind: 'dynamic', url, ...common };
  return { kind: 'static', key: account.get('01')!, description: account.get('02') ?? null, ...common };
};

/**
 * Returns the contents of a Pix BR code, or the reason for its rejection. A valid code has at most 512 characters, the right checksum as
 * its last field, ascending ids, the constants, receiver and txid of pix.md, and either a key or a location.
 * Lengths count characters, while the checksum counts UTF-8 bytes. For codes with several payment systems, only the Pix part is parsed.
 */
export const parseBrCode = (code: string): BrCodeParse => {
  const problem = textProblem(code);
  if (problem !== null) return { ok: false, reason: problem };
  const fields = parseAscendingTlv(code.slice(0, -8));
  if (fields === null) return { ok: false, reason: 'not made of fields with ascending ids' };
  for (const rule of RULES) {
    const reason = rule(fields);
    if (reason !== null) return { ok: false, reason };
  }
  return { ok: true, brCode: brCodeOf(fields) };
};
