// Random sets of payments with different days, currencies and documents. Their events are interleaved and cut into batches.
import fc from 'fast-check';
import { encodeRawId, type PaymentId } from '../../../domain/kernel/ids.ts';
import { DAY_MS, fromMillis, HOUR_MS } from '../../../domain/kernel/time.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { transactionStatus } from '../../../domain/presentation/status.ts';
import { histories, run } from '../../support/paymentHistories.ts';
import type { Step } from './paymentTables.ts';

export interface MixedPayment {
  readonly id: PaymentId;
  readonly events: readonly PaymentEvent[];
  readonly state: ExistingPayment;
  /** Date of the event that led to the present status. */
  readonly statusSince: string;
}
export interface Mixture {
  readonly payments: readonly MixedPayment[];
  readonly batches: readonly (readonly Step[])[];
}

const idOf = (n: number): PaymentId => encodeRawId(new Uint8Array(16).fill(n)) as PaymentId;
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

interface Change {
  readonly shiftMs: number;
  readonly currency: string;
  readonly name: string | null;
  readonly document: string | null;
  /** Rounds to the full hour, so that several payments share one instant. */
  readonly isOnTheHour: boolean;
}
const change: fc.Arbitrary<Change> = fc.record({
  shiftMs: fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 23 })).map(([days, hours]) => days * DAY_MS + hours * HOUR_MS),
  currency: fc.constantFrom('BRL', 'BRL', 'EUR'),
  name: fc.constantFrom('Ana', 'Bia', 'Érica', null),
  document: fc.constantFrom('529.982.247-25', '52998224725', '12.ABC.345/01DE-35', null),
  isOnTheHour: fc.boolean(),
});

const changed = (events: readonly PaymentEvent[], id: PaymentId, to: Change): readonly PaymentEvent[] => {
  const text = JSON.stringify(events)
    .replaceAll(INSTANT, (at) => fromMillis(Date.parse(at) - to.shiftMs))
    .replaceAll('"currency":"BRL"', `"currency":"${to.currency}"`);
  return (JSON.parse(text) as PaymentEvent[]).map((event) =>
    event.type === 'ChargeCreated'
      ? {
          ...event,
          data: {
            ...event.data,
            paymentId: id,
            customer: { ...event.data.customer, name: to.name, document: to.document },
          },
        }
      : event,
  );
};

const dateOf = (event: PaymentEvent): string => (event.type === 'ChargeCreated' ? event.data.createdAt : event.data.at);

const mixedPayment = (id: PaymentId, events: readonly PaymentEvent[]): MixedPayment => {
  let state = payment.initial;
  let statusSince = '';
  for (const event of events) {
    const before = state;
    state = payment.evolve(state, event);
    const was = before.charge.status === 'absent' ? null : transactionStatus(assertExists(before));
    if (transactionStatus(assertExists(state)) !== was) statusSince = dateOf(event);
  }
  return { id, events, state: assertExists(state), statusSince };
};

/** Interleaves the events of the payments by `picks`, keeps the order within each payment, and cuts batches of these sizes. */
const mix = (payments: readonly MixedPayment[], picks: readonly number[], sizes: readonly number[]): Step[][] => {
  const rest = payments.map(({ id, events }) =>
    events.map((event, revision): Step => ({ paymentId: id, revision, event })),
  );
  const steps: Step[] = [];
  for (let n = 0; rest.some((own) => own.length > 0); n++) {
    const left = rest.filter((own) => own.length > 0);
    const own = left[(picks[n % picks.length] as number) % left.length] as Step[];
    steps.push(own.shift() as Step);
  }
  const batches: Step[][] = [];
  for (let n = 0; steps.length > 0; n++) batches.push(steps.splice(0, sizes[n % sizes.length]));
  return batches;
};

export const mixtures: fc.Arbitrary<Mixture> = fc
  .tuple(
    fc.array(fc.tuple(histories, change), { minLength: 1, maxLength: 8 }),
    fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 20 }),
    fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
  )
  .map(([all, picks, sizes]) => {
    const payments = all.map(([[isLocked, steps], to], n) => {
      const id = idOf(n + 1);
      return mixedPayment(id, changed(run(isLocked, steps).events, id, to));
    });
    return { payments, batches: mix(payments, picks, sizes) };
  });
