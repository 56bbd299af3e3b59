// A monthly statement as a PDF in Portuguese: a page with the balances and sums, then every movement, or every day of a busy month.
import { setImmediate } from 'node:timers/promises';
import type { MonthSummary } from '../../../application/ports/readModels/statements.ts';
import type { Statement } from '../../../application/statements/openStatement.ts';
import { addSums, type MerchantSums, totalOf } from '../../../domain/kernel/journal.ts';
import { add, type Minor } from '../../../domain/kernel/money.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import { MOVEMENT_NAMES, type StatementFacts } from '../../../domain/presentation/statement.ts';
import { brasiliaMinute, brasiliaSecond } from '../../site/brasiliaTime.ts';
import { bytesOf, COLOR, openPdf } from '../../site/pdf/document.ts';
import { drawFactTable, type FactRow } from '../../site/pdf/factTable.ts';
import { shownTaxId } from '../../site/pdf/maskedTaxId.ts';
import { drawReceiptFooter, drawReceiptHead, FACTS_Y, printableRows } from '../../site/pdf/receiptParts.ts';
import { type Column, drawWideTable } from '../../site/pdf/wideTable.ts';

/** Beyond this number of movements, each day has one line. 1,000 lines are 35 pages and take 0.4 s of CPU, 10 ms a page. */
export const LINES_MAX = 1_000;

const MONTH = new Intl.DateTimeFormat('pt-BR', { timeZone: 'UTC', month: 'long', year: 'numeric' });
const monthName = ({ firstDay }: StatementFacts): string => MONTH.format(new Date(firstDay));

const factRows = (facts: StatementFacts): readonly FactRow[] => {
  const taxId = facts.merchantTaxId === null ? null : shownTaxId(facts.merchantTaxId);
  const day = (text: string) => text.split('-').reverse().join('/');
  return printableRows([
    ['Titular', facts.merchantName],
    [`${taxId?.kind} do titular`, taxId?.text ?? null],
    ['Conta', `acct_${facts.accountId}`],
    ['Período', `${day(facts.firstDay)} a ${day(facts.lastDay)} (horário de Brasília)`],
    ['Moeda', facts.currency],
    ['Emitido em', brasiliaSecond(facts.now)],
  ]);
};

type Amount = (amount: Minor) => string;
const balanceCells = (text: Amount, sums: MerchantSums): readonly string[] => [
  text(sums.available),
  text(sums.pending),
  text(sums.retained),
  text(totalOf(sums)),
];

const BALANCES: readonly Column[] = [
  { name: 'Disponível', width: 86, isAmount: true },
  { name: 'Pendente', width: 86, isAmount: true },
  { name: 'Retido', width: 86, isAmount: true },
  { name: 'Total', width: 86, isAmount: true },
];
const KIND_COLUMNS: readonly Column[] = [
  { name: 'Resumo', width: 170 },
  { name: 'Lançamentos', width: 66, isAmount: true },
  { name: 'Bruto', width: 80, isAmount: true },
  { name: 'Tarifas', width: 70, isAmount: true },
  ...BALANCES,
];
const MOVEMENT_COLUMNS: readonly Column[] = [
  { name: 'Data', width: 74 },
  { name: 'Lançamento', width: 128 },
  { name: 'Referência', width: 124 },
  { name: 'Bruto', width: 62, isAmount: true },
  { name: 'Tarifas', width: 54, isAmount: true },
  { name: 'Disponível', width: 70, isAmount: true },
  { name: 'Pendente', width: 70, isAmount: true },
  { name: 'Retido', width: 70, isAmount: true },
  { name: 'Saldo total', width: 78, isAmount: true },
];
const DAY_COLUMNS: readonly Column[] = [
  { name: 'Dia', width: 200 },
  { name: 'Disponível', width: 130, isAmount: true },
  { name: 'Pendente', width: 130, isAmount: true },
  { name: 'Retido', width: 130, isAmount: true },
  { name: 'Saldo total', width: 140, isAmount: true },
];

const kindRows = (text: Amount, { opening, kinds }: MonthSummary, closing: MerchantSums): readonly string[][] => [
  ['Saldo inicial', '', '', '', ...balanceCells(text, opening)],
  ...kinds.map((sums) => [
    MOVEMENT_NAMES[sums.kind],
    String(sums.movements),
    text(sums.gross),
    text(add(sums.providerFee, sums.platformFee)),
    ...balanceCells(text, sums),
  ]),
  ['Saldo final', '', '', '', ...balanceCells(text, closing)],
];

function* movementRows(text: Amount, { opening, movements }: MonthSummary): Generator<readonly string[]> {
  let balance = opening;
  for (const movement of movements ?? []) {
    balance = addSums(balance, movement);
    const { at, kind, reference, gross, providerFee, platformFee, available, pending, retained } = movement;
    const fees = add(providerFee, platformFee);
    yield [
      brasiliaMinute(at),
      MOVEMENT_NAMES[kind],
      reference,
      ...[gross, fees, available, pending, retained].map((amount) => (amount === 0 ? '' : text(amount))),
      text(totalOf(balance)),
    ];
  }
}

function* dayRows(text: Amount, { opening, days }: MonthSummary): Generator<readonly string[]> {
  let balance = opening;
  for (const sums of days) {
    balance = addSums(balance, sums);
    const { day, available, pending, retained } = sums;
    yield [day.split('-').reverse().join('/'), text(available), text(pending), text(retained), text(totalOf(balance))];
  }
}

const outcomeOf = ({ isProvisional, now }: StatementFacts) =>
  isProvisional
    ? { outcome: `Provisório: o mês não terminou. Saldo em ${brasiliaMinute(now)}.`, outcomeColor: COLOR.warn }
    : { outcome: 'Saldo total no fim do mês', outcomeColor: COLOR.accent };

/** Returns the statement with selectable text. The same facts and movements give the same bytes. */
export const renderStatement = async (
  { facts, summary }: Pick<Statement, 'facts' | 'summary'>,
  logo: Buffer | null,
): Promise<Buffer> => {
  const month = await summary(LINES_MAX);
  const closing = month.kinds.reduce<MerchantSums>(addSums, month.opening);
  const text: Amount = (amount) => formatAmount(amount, facts.currency, 'pt');
  const title = `Extrato de ${monthName(facts)}`;
  const pdf = await openPdf({ title, subject: `${facts.month} ${facts.currency}`, at: facts.now });
  const { mode } = facts;
  drawReceiptHead(pdf, { mode, logo, title, amount: text(totalOf(closing)), ...outcomeOf(facts) });
  drawFactTable(pdf, factRows(facts), FACTS_Y);
  drawReceiptFooter(
    pdf,
    mode,
    'Emitido pela Quita com base no razão da conta. As tarifas de saques e devoluções estão no valor.',
  );
  await drawWideTable(pdf, KIND_COLUMNS, kindRows(text, month, closing), setImmediate);
  if (month.movements !== null) await drawWideTable(pdf, MOVEMENT_COLUMNS, movementRows(text, month), setImmediate);
  else await drawWideTable(pdf, DAY_COLUMNS, dayRows(text, month), setImmediate);
  return bytesOf(pdf);
};
