// A statement as CSV (RFC 4180, UTF-8): amounts for programs are integers of minor units, the description is for people.
import { saoPauloTime } from '../kernel/civilDay.ts';
import { type MerchantSums, totalOf } from '../kernel/journal.ts';
import { add, type Minor, most } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { formatAmount } from './amount.ts';
import { csvField } from './csv.ts';
import { MOVEMENT_NAMES, type Movement, type StatementFacts } from './statement.ts';

const COLUMNS = [
  'id',
  'time',
  'type',
  'reference',
  'currency',
  'gross',
  'provider_fee',
  'platform_fee',
  'available',
  'pending',
  'retained',
  'available_balance',
  'pending_balance',
  'retained_balance',
  'description',
] as const;
type Cells = { readonly [Column in (typeof COLUMNS)[number]]?: string | number };

const row = (cells: Cells): string => `${COLUMNS.map((column) => csvField(String(cells[column] ?? ''))).join(',')}\r\n`;

/** Returns the instant in São Paulo as `2026-11-21T10:15:30.000-03:00`. */
const timeOf = (at: Timestamp): string => {
  const { local, offset } = saoPauloTime(at);
  return `${local}-0${-offset}:00`;
};

const balances = ({ available, pending, retained }: MerchantSums) => ({
  available_balance: available,
  pending_balance: pending,
  retained_balance: retained,
});

const balanceRow = (facts: StatementFacts, type: string, at: Timestamp, name: string, balance: MerchantSums): string =>
  row({
    time: timeOf(at),
    type,
    currency: facts.currency,
    ...balances(balance),
    description: `${name}: ${formatAmount(totalOf(balance), facts.currency, 'pt')}`,
  });

/** A hold or a release has no gross amount, so the moved amount is shown. */
const shownAmount = ({ gross, available, pending, retained }: Movement): Minor =>
  gross === 0 ? most(available, most(pending, retained)) : gross;

const describe = ({ currency }: StatementFacts, movement: Movement): string => {
  const fees = add(movement.providerFee, movement.platformFee);
  const text = `${MOVEMENT_NAMES[movement.kind]}: ${formatAmount(shownAmount(movement), currency, 'pt')}`;
  return fees === 0 ? text : `${text}, tarifas de ${formatAmount(fees, currency, 'pt')}`;
};

export const CSV = {
  head: (facts: StatementFacts, opening: MerchantSums): string =>
    `${COLUMNS}\r\n${balanceRow(facts, 'opening', facts.from, 'Saldo inicial', opening)}`,
  line: (facts: StatementFacts, movement: Movement, balance: MerchantSums): string =>
    row({
      id: movement.id,
      time: timeOf(movement.at),
      type: movement.kind,
      reference: movement.reference,
      currency: facts.currency,
      gross: movement.gross,
      provider_fee: movement.providerFee,
      platform_fee: movement.platformFee,
      available: movement.available,
      pending: movement.pending,
      retained: movement.retained,
      ...balances(balance),
      description: describe(facts, movement),
    }),
  end: (facts: StatementFacts, closing: MerchantSums): string =>
    facts.isProvisional
      ? balanceRow(facts, 'provisional', facts.now, 'Saldo provisório, o mês não terminou', closing)
      : balanceRow(facts, 'closing', facts.to, 'Saldo final', closing),
};
