// Orders of the control: what they hold, and what is refused. Amounts are integers of centavos; times are ISO 8601 texts.
import type { Nature, Person } from './books.ts';
import { FAULT_KINDS, type FaultOrder } from './faults.ts';
import { OPERATIONS } from './operations.ts';

/** An order that can't be carried out. */
export class ControlError extends Error {
  readonly status: 400 | 404 | 409;

  constructor(status: 400 | 404 | 409, message: string) {
    super(message);
    this.status = status;
  }
}

export interface Payment {
  /** The charge's amount if omitted. Any other amount also concludes the charge. */
  readonly amount?: number;
  /** Cash that the payer withdrew, part of the amount. */
  readonly withdrawal?: number;
  readonly payer?: Partial<Person>;
  /** Now, on the institution's clock, if omitted. */
  readonly paidAt?: string;
  readonly note?: string;
  /** Overrides the setting `payer` for this Pix. */
  readonly showPayer?: 'none' | 'full' | 'masked';
}

export interface ChargePayment extends Payment {
  /** Pays although the charge can't be paid any more, as late, second and stray payments arrive in the real network. */
  readonly force?: boolean;
  /** Whose charge it is, needed if several clients have one with this txid. */
  readonly clientId?: string;
}

export interface KeyPayment extends Payment {
  readonly amount: number;
  /** Of a static code, if any. */
  readonly txid?: string;
}

export interface ManyPayments {
  readonly count: number;
  readonly amount: number;
  /** The payments are spread evenly over this period, both ends included. */
  readonly from: string;
  readonly to: string;
}

export interface ForeignReturn {
  /** What is left of the Pix if omitted. */
  readonly amount?: number;
  readonly nature?: Nature;
  readonly reason?: string;
}

export const DEFAULT_PAYER: Person = { name: 'PAGADOR DE TESTE', document: '99991111140' };

export const amountFrom = (value: unknown, least = 1): number => {
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > 999_999_999_999)
    throw new ControlError(400, `"amount" must be an integer of centavos from ${least} to 999999999999.`);
  return value as number;
};
export const timeFrom = (text: string): number => {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new ControlError(400, `"${text}" is not a time.`);
  return at;
};

export const isDone = (outcome: unknown): boolean => {
  if (outcome !== 'done' && outcome !== 'refused')
    throw new ControlError(400, '"outcome" must be "done" or "refused".');
  return outcome === 'done';
};

/** Throws ControlError for an unknown operation or kind, or a wrong number. */
export const checkFault = (order: FaultOrder): void => {
  if (order.on !== '*' && !OPERATIONS.includes(order.on))
    throw new ControlError(400, `"on" must be "*" or one of: ${OPERATIONS.join(', ')}.`);
  if (!FAULT_KINDS.includes(order.kind))
    throw new ControlError(400, `"kind" must be one of: ${FAULT_KINDS.join(', ')}.`);
  if (order.when !== undefined && order.when !== 'before' && order.when !== 'after')
    throw new ControlError(400, '"when" must be "before" or "after".');
  for (const name of ['times', 'skip', 'ms', 'retryAfter'] as const) {
    const value = order[name] ?? 0;
    if (!Number.isSafeInteger(value) || value < 0) throw new ControlError(400, `"${name}" must be a positive integer.`);
  }
};
