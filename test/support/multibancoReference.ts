// Validates a Multibanco reference as a terminal does.
import type { Minor } from '../../domain/kernel/money.ts';
import { multibancoReference } from '../../domain/methods/multibanco.ts';

const ENTITY = /^[0-9]{5}$/;
const REFERENCE = /^[0-9]{9}$/;
const AMOUNT_MAX = 99_999_999;

/** Returns whether a terminal would accept it, by shape, bounds and check digits. The amount is in euro cents. */
export const isMultibancoReference = (entity: string, reference: string, amount: Minor): boolean =>
  ENTITY.test(entity) &&
  REFERENCE.test(reference) &&
  Number.isInteger(amount) &&
  amount >= 1 &&
  amount <= AMOUNT_MAX &&
  reference === multibancoReference({ entity, subEntityAndNumber: reference.slice(0, 7), amount });
