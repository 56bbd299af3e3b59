// The monthly statement of a merchant's money: its movements, derived from the entries of the ledger (rule M12).
import { AGGREGATES } from '../aggregates.ts';
import { readStreamName } from '../kernel/aggregate.ts';
import { civilDayBounds } from '../kernel/civilDay.ts';
import type { AccountId, Mode } from '../kernel/ids.ts';
import { addSums, type LedgerAccount, type MerchantSums, merchantSums, totalOf } from '../kernel/journal.ts';
import { add, type Minor, ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';

/** The names of the kinds of movements on documents. */
export const MOVEMENT_NAMES = {
  payment: 'Pagamento recebido',
  release: 'Liberação de valor pendente',
  refund: 'Devolução ao pagador',
  refund_failed: 'Devolução não concluída',
  payout: 'Saque',
  payout_failed: 'Saque não concluído',
  dispute_hold: 'Bloqueio por contestação',
  dispute_release: 'Desbloqueio de contestação',
  dispute_loss: 'Perda em contestação',
  dispute_return: 'Estorno de perda em contestação',
  bank_return: 'Devolução feita pelo banco',
  other: 'Outro lançamento',
} as const;
export type MovementKind = keyof typeof MOVEMENT_NAMES;
const MOVEMENT_KINDS = Object.keys(MOVEMENT_NAMES) as readonly MovementKind[];

/** The amounts of an entry, or of several of the same shape. */
export interface EntryAmounts {
  readonly category: string;
  /** The sum of each account that was posted to, also if it is 0. */
  readonly amounts: { readonly [Account in LedgerAccount]?: Minor };
}

/** A change of a merchant's money: `gross` less the fees is the sum of the three changes. */
export interface MovementAmounts extends MerchantSums {
  readonly kind: MovementKind;
  readonly gross: Minor;
  /** The fees of a payment; otherwise 0, because the fee of a refund or payout is part of its amount. */
  readonly providerFee: Minor;
  readonly platformFee: Minor;
}

export interface Movement extends MovementAmounts {
  /** Stable and unique within the account. At most 32 characters, because some programs cut longer ids (OFX FITID). */
  readonly id: string;
  /** Public id of the payment or payout. */
  readonly reference: string;
  readonly at: Timestamp;
}

/**
 * Determines the kind from the accounts involved, because the ledger's entries don't hold the event. It depends only on the accounts and
 * on the direction of the first one, by which months are summed (projections/wallet/statements.ts).
 */
const kindOf = ({ category, amounts }: EntryAmounts, { available, pending, retained }: MerchantSums): MovementKind => {
  const to = (account: LedgerAccount): Minor => amounts[account] ?? ZERO;
  if (to('refunds_in_transit') !== 0) return to('refunds_in_transit') > 0 ? 'refund' : 'refund_failed';
  if (to('payouts_in_transit') !== 0) return to('payouts_in_transit') > 0 ? 'payout' : 'payout_failed';
  if (amounts.disputes !== undefined) return available > 0 ? 'dispute_return' : 'dispute_loss';
  if (retained > 0) return 'dispute_hold';
  if (retained < 0 && available > 0) return 'dispute_release';
  if (pending < 0 && available > 0) return 'release';
  if (to('provider_clearing') < 0) return 'payment';
  if (to('provider_clearing') > 0) return category === 'payout' ? 'payout' : 'bank_return';
  return 'other';
};

export const movementAmounts = (entry: EntryAmounts): MovementAmounts => {
  const postings = Object.entries(entry.amounts) as [LedgerAccount, Minor][];
  const sums = merchantSums(postings.map(([account, amount]) => ({ account, amount })));
  const kind = kindOf(entry, sums);
  const feeIn = (account: LedgerAccount): Minor => (kind === 'payment' ? (entry.amounts[account] ?? ZERO) : ZERO);
  const [providerFee, platformFee] = [feeIn('provider_fees'), feeIn('platform_fees')];
  return { ...sums, kind, gross: add(totalOf(sums), add(providerFee, platformFee)), providerFee, platformFee };
};

const PREFIXES = new Map<string, string | null>(AGGREGATES.map(({ category, idPrefix }) => [category, idPrefix]));

export const movementOf = (
  stream: string,
  revision: number,
  at: Timestamp,
  amounts: EntryAmounts['amounts'],
): Movement => {
  const { category, id } = readStreamName(stream);
  const reference = (PREFIXES.get(category) ?? '') + id;
  return { id: `${id}-${revision}`, reference, at, ...movementAmounts({ category, amounts }) };
};

/** The sums of a day. */
export interface DaySums extends MerchantSums {
  /** `yyyy-mm-dd`, in São Paulo. */
  readonly day: string;
}
/** The sums of a kind of movement. */
export interface KindSums extends MovementAmounts {
  readonly movements: number;
}

/** Adds up the sums of each kind, in the order of the kinds. */
export const sumsOfKinds = (sums: readonly KindSums[]): readonly KindSums[] =>
  MOVEMENT_KINDS.flatMap((kind) => {
    const [first, ...rest] = sums.filter((one) => one.kind === kind);
    return first === undefined ? [] : [rest.reduce(addKind, first)];
  });

const addKind = (a: KindSums, b: KindSums): KindSums => ({
  kind: a.kind,
  movements: a.movements + b.movements,
  gross: add(a.gross, b.gross),
  providerFee: add(a.providerFee, b.providerFee),
  platformFee: add(a.platformFee, b.platformFee),
  ...addSums(a, b),
});

/** A month of São Paulo. */
export interface StatementMonth {
  /** `yyyy-mm` */
  readonly month: string;
  readonly firstDay: string;
  readonly lastDay: string;
  /** First and last millisecond. */
  readonly from: Timestamp;
  readonly to: Timestamp;
}

/** Returns the month `yyyy-mm`, or null if the text is not one of the years 1914 (since when São Paulo's time is exact) to 2999. */
export const statementMonth = (text: string): StatementMonth | null => {
  const [, year, month] = /^([12]\d{3})-(\d\d)$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return null;
  const firstDay = `${text}-01`;
  const lastDay = `${text}-${String(new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()).padStart(2, '0')}`;
  const from = civilDayBounds(firstDay, 'America/Sao_Paulo')?.from;
  const to = civilDayBounds(lastDay, 'America/Sao_Paulo')?.to;
  return from && to ? { month: text, firstDay, lastDay, from, to } : null;
};

/** The facts that every format of a statement shows. */
export interface StatementFacts extends StatementMonth {
  readonly accountId: AccountId;
  readonly mode: Mode;
  readonly merchantName: string;
  readonly merchantTaxId: string | null;
  readonly currency: string;
  /** Account time at the request. */
  readonly now: Timestamp;
  /** Whether the month has not ended, so that further movements may follow. */
  readonly isProvisional: boolean;
}

export const STATEMENT_FORMATS = ['pdf', 'csv', 'ofx'] as const;
export type StatementFormatName = (typeof STATEMENT_FORMATS)[number];

/** Returns `quita-2026-11-BRL.csv`, with `test` and `provisional` where they apply. */
export const statementFileName = (
  { mode, month: text, currency, isProvisional }: StatementFacts,
  format: string,
): string =>
  `quita-${mode === 'test' ? 'test-' : ''}${text}-${currency}${isProvisional ? '-provisional' : ''}.${format}`;
