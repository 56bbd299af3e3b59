// Lists the facts of a dispute case for a mail: case, order, amount and reason (Q7). Order and reason are foreign text, so each is cut to
// one short line.

import type { ChargeTerms } from '../../domain/charge/charge.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { DisputeMethod, MedCase } from '../../domain/dispute/medCase.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { formatAmount } from '../../domain/presentation/amount.ts';

/** Facts about the disputed charge. */
export interface DisputedCharge {
  readonly metadata: ChargeTerms['metadata'];
  /** The payer's claim; null if the bank did not report it. */
  readonly method: DisputeMethod | null;
}

const METHOD: { readonly [M in DisputeMethod]: string | null } = {
  scam: 'golpe',
  unauthorized: 'transação não autorizada',
  coercion: 'coação',
  invasion: 'invasão de conta',
  other: null,
};

/** Keys of `metadata` under which merchants keep the number of an order; the first one with a value counts. */
const ORDER_KEYS = ['order_id', 'orderId', 'order'];
/** In graphemes. */
const LENGTH_MAX = 200;

const graphemes = new Intl.Segmenter('pt-BR', { granularity: 'grapheme' });

/** Returns the text on one line, without control and format characters. */
const oneLine = (text: string): string => {
  const line = text
    // Bounds the work: metadata may be long, and a grapheme may have any length.
    .slice(0, 8 * LENGTH_MAX)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(/\p{Cf}/gu, '')
    .trim();
  const shown = [...graphemes.segment(line)].map(({ segment }) => segment);
  return shown.length > LENGTH_MAX ? `${shown.slice(0, LENGTH_MAX).join('')}…` : shown.join('');
};

const written = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? oneLine(String(value)) : '';

const orderOf = (metadata: ChargeTerms['metadata']): string =>
  ORDER_KEYS.map((key) => written(metadata[key])).find((text) => text !== '') ?? '';

const reasonOf = (reason: string | null, method: DisputeMethod | null): string =>
  [method === null ? null : METHOD[method], written(reason)].filter(Boolean).join(': ') || 'não informado';

/** Returns labels and values in display order. A missing order or description is left out. */
export const caseFacts = (
  { terms }: MedCase,
  { metadata, method }: DisputedCharge,
): readonly (readonly [label: string, value: string])[] => {
  const { caseId, paymentId, amount, currency, reason } = terms;
  const facts: readonly (readonly [string, string])[] = [
    ['Disputa', MED_CASE.idPrefix + caseId],
    ['Cobrança', PREFIX.charge + paymentId],
    ['Pedido', orderOf(metadata)],
    ['Descrição', written(metadata['description'])],
    ['Valor', formatAmount(amount, currency, 'pt')],
    ['Motivo', reasonOf(reason, method)],
  ];
  return facts.filter(([, value]) => value !== '');
};
