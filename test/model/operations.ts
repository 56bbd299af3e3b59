// Random operations of a merchant, its payers, its acquirer and its clock.
import fc from 'fast-check';
import type { Method, PayKind } from './shop.ts';

/** `which` is an index into the available items, modulo their number. */
export type Operation =
  | { readonly kind: 'create'; readonly method: Method; readonly amount: number; readonly isLocked: boolean }
  | { readonly kind: 'pay'; readonly which: number; readonly how: PayKind; readonly twice: boolean }
  | { readonly kind: 'acquirer'; readonly which: number; readonly what: AcquirerMove }
  | { readonly kind: 'cancel'; readonly which: number }
  | {
      readonly kind: 'refund';
      readonly which: number;
      /** Percentage of what is left; above 100 is too much. */
      readonly percent: number;
      readonly devolution: boolean;
      readonly passFee: boolean;
    }
  | { readonly kind: 'endRefund'; readonly which: number; readonly isPaid: boolean }
  | { readonly kind: 'clock'; readonly seconds: number };
export type AcquirerMove = 'authorize' | 'refuse' | 'processing' | 'chargeback' | 'dispute';

const which = fc.nat(1_000);
const amount = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 201, max: 5_000_000 }));

const create = fc.record({
  kind: fc.constant('create' as const),
  method: fc.constantFrom<Method>('PIX', 'PIX', 'PIX', 'CREDIT_CARD', 'CREDIT_CARD', 'BOLETO'),
  amount,
  isLocked: fc.boolean(),
});
const pay = fc.record({
  kind: fc.constant('pay' as const),
  which,
  how: fc.constantFrom<PayKind>('right', 'right', 'right', 'wrong', 'late', 'stranger', 'nobody'),
  twice: fc.boolean(),
});
const acquirer = fc.record({
  kind: fc.constant('acquirer' as const),
  which,
  what: fc.constantFrom<AcquirerMove>(
    'authorize',
    'authorize',
    'authorize',
    'refuse',
    'processing',
    'chargeback',
    'dispute',
  ),
});
const cancel = fc.record({ kind: fc.constant('cancel' as const), which });
const refund = fc.record({
  kind: fc.constant('refund' as const),
  which,
  percent: fc.constantFrom(1, 25, 50, 100, 100, 101),
  devolution: fc.boolean(),
  passFee: fc.boolean(),
});
const endRefund = fc.record({ kind: fc.constant('endRefund' as const), which, isPaid: fc.boolean() });
/** Different enough from each other and from every lifetime that a test’s own duration never matters. */
const clock = fc.record({ kind: fc.constant('clock' as const), seconds: fc.constantFrom(600, 1_800, 4_200, 90_000) });

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { arbitrary: create, weight: 6 },
  { arbitrary: pay, weight: 6 },
  { arbitrary: acquirer, weight: 4 },
  { arbitrary: cancel, weight: 2 },
  { arbitrary: refund, weight: 5 },
  { arbitrary: endRefund, weight: 4 },
  { arbitrary: clock, weight: 1 },
);
