// The plan of the demo's month: the orders of three shops, and their outcomes. Every run makes the same plan, so that documents can quote
// its figures.
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import { isCpf } from '../../../domain/pix/taxId.ts';

/** The month of all orders, far enough ahead for every test clock. */
export const SEED_MONTH = '2030-01';
export const SEED_DAYS = 31;

/** Orders are placed at 10:05 (slot 0) and 19:05 (slot 1) in São Paulo. */
export type Slot = 0 | 1;
/** `soon`: two minutes after the order; `later`: 40 minutes; `nextDay`: the next morning. */
type PaidWhen = 'soon' | 'later' | 'nextDay';
type Fate = PaidWhen | 'expires' | 'cancelled' | 'refused';

interface AfterSale {
  readonly kind: 'refund' | 'dispute';
  /** Day of the month, in slot 0. */
  readonly day: number;
  /** Percentage of the amount that is refunded. */
  readonly percent: number;
  /** The day and the outcome of a decision; null if the case stays open. */
  readonly decided: { readonly day: number; readonly isWon: boolean } | null;
}

export interface Order {
  /** Unique in its shop. */
  readonly number: number;
  readonly day: number;
  readonly slot: Slot;
  /** In minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly methods: readonly PaymentMethod[];
  readonly paysWith: PaymentMethod;
  readonly fate: Fate;
  readonly customer: number;
  readonly after: AfterSale | null;
}

export interface ShopPlan {
  readonly name: string;
  readonly email: string;
  /** Options of `account settings`. */
  readonly settings: readonly string[];
  readonly orders: readonly Order[];
  /** Days on which the shop withdraws 60 % of its available balance, in slot 1. */
  readonly payoutDays: readonly number[];
  /** The day whose payout the bank fails, if any. */
  readonly failedPayoutDay: number | null;
  /** Events sent to an endpoint that never responds with 2xx. A healthy endpoint gets all events. */
  readonly failingEvents: readonly string[];
}

/** Returns numbers in [0, 1), the same for the same seed (mulberry32). */
const numbersFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
type Random = ReturnType<typeof numbersFrom>;

/** Chooses by weight. */
const chosen = <T>(random: Random, choices: readonly (readonly [weight: number, choice: T])[]): T => {
  let rest = random() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, choice] of choices) {
    rest -= weight;
    if (rest < 0) return choice;
  }
  return (choices.at(-1) as (typeof choices)[number])[1];
};

interface Offer {
  readonly methods: readonly PaymentMethod[];
  readonly currency: string;
  /** In minor units. */
  readonly from: number;
  readonly to: number;
}

const FATES: { readonly [Method in PaymentMethod]: readonly (readonly [number, Fate])[] } = {
  PIX: [
    [66, 'soon'],
    [14, 'later'],
    [15, 'expires'],
    [5, 'cancelled'],
  ],
  CREDIT_CARD: [
    [78, 'soon'],
    [17, 'refused'],
    [5, 'expires'],
  ],
  BOLETO: [
    [62, 'nextDay'],
    [38, 'expires'],
  ],
  MBWAY: [
    [75, 'soon'],
    [25, 'expires'],
  ],
  MULTIBANCO: [
    [60, 'nextDay'],
    [40, 'expires'],
  ],
  CRYPTO: [
    [80, 'soon'],
    [20, 'expires'],
  ],
};
const ORDERS_A_SLOT = [
  [1, 1],
  [3, 2],
  [3, 3],
  [2, 4],
  [1, 6],
] as const;
const CUSTOMERS = 60;

const afterOf = (
  random: Random,
  { day, paysWith, fate }: Pick<Order, 'day' | 'paysWith' | 'fate'>,
): AfterSale | null => {
  const isPaid = fate === 'soon' || fate === 'later';
  const kind = chosen(random, [
    [88, null],
    [8, 'refund'],
    [4, 'dispute'],
  ] as const);
  const percent = chosen(random, [
    [2, 100],
    [1, 40],
  ]);
  const isWon = random() < 0.5;
  if (kind === null || !isPaid || (paysWith !== 'PIX' && paysWith !== 'CREDIT_CARD')) return null;
  const on = day + (kind === 'refund' ? 3 : 5);
  if (on > SEED_DAYS) return null;
  const decidedOn = on + 6;
  const isDecided = kind === 'dispute' && paysWith === 'PIX' && decidedOn <= SEED_DAYS;
  return { kind, day: on, percent, decided: isDecided ? { day: decidedOn, isWon } : null };
};

const ordersOf = (seed: number, offers: readonly (readonly [number, Offer])[]): readonly Order[] => {
  const random = numbersFrom(seed);
  const orders: Order[] = [];
  for (let day = 1; day <= SEED_DAYS; day++)
    for (const slot of [0, 1] as const)
      for (let left = chosen(random, ORDERS_A_SLOT); left > 0; left--) {
        const { methods, currency, from, to } = chosen(random, offers);
        const amount = Math.round((from + random() * (to - from)) / 10) * 10;
        const paysWith = methods[Math.floor(random() * methods.length)] as PaymentMethod;
        // A day's second slot is its last: nothing is paid 40 minutes after the first, before the next slot.
        const drawn = chosen(random, FATES[paysWith]);
        const fate = drawn === 'nextDay' && day === SEED_DAYS ? 'expires' : drawn;
        const customer = Math.floor(random() ** 2 * CUSTOMERS);
        const number = orders.length + 1;
        const order = { number, day, slot, amount, currency, methods, paysWith, fate, customer };
        orders.push({ ...order, after: afterOf(random, order) });
      }
  return orders;
};

const BRL = (from: number, to: number, ...methods: PaymentMethod[]): Offer => ({ methods, currency: 'BRL', from, to });
const PIX_FEES = 'PIX=0+10/100+0';

export const SHOPS: readonly ShopPlan[] = [
  {
    name: 'Livraria Aurora',
    email: 'aurora@demo.quita.example',
    settings: ['--fees', `${PIX_FEES},BOLETO=0+150/50+0`, '--hold-days', 'PIX=0,BOLETO=2'],
    orders: ordersOf(1, [
      [6, BRL(2_990, 18_990, 'PIX')],
      [3, BRL(4_990, 39_990, 'BOLETO')],
      [1, BRL(4_990, 39_990, 'PIX', 'BOLETO')],
    ]),
    payoutDays: [7, 14, 21, 28],
    failedPayoutDay: 21,
    failingEvents: [],
  },
  {
    name: 'Café Horizonte',
    email: 'horizonte@demo.quita.example',
    settings: ['--fees', `${PIX_FEES},CREDIT_CARD=199+0/100+0`, '--hold-days', 'PIX=0,CREDIT_CARD=14'],
    orders: ordersOf(2, [
      [7, BRL(1_200, 9_500, 'PIX')],
      [4, BRL(1_200, 9_500, 'CREDIT_CARD')],
    ]),
    payoutDays: [7, 14, 21],
    failedPayoutDay: null,
    failingEvents: ['payout.paid'],
  },
  {
    name: 'Poente Exporta',
    email: 'poente@demo.quita.example',
    settings: ['--fees', `${PIX_FEES},CREDIT_CARD=249+0/150+0,MBWAY=70+5/30+0`, '--hold-days', 'PIX=1,CREDIT_CARD=14'],
    orders: ordersOf(3, [
      [4, BRL(50_000, 400_000, 'CREDIT_CARD')],
      [2, BRL(50_000, 400_000, 'PIX')],
      [2, { methods: ['MBWAY'], currency: 'EUR', from: 2_500, to: 60_000 }],
      [1, { methods: ['MULTIBANCO'], currency: 'EUR', from: 2_500, to: 60_000 }],
      [1, { methods: ['CRYPTO'], currency: 'USDT', from: 20_000_000, to: 900_000_000 }],
    ]),
    payoutDays: [15, 30],
    failedPayoutDay: null,
    failingEvents: [],
  },
];

/** Returns fictitious customer `n`, with a CPF of valid check digits. */
export const customerOf = (n: number): { readonly name: string; readonly document: string } => {
  const base = `9998${String(n).padStart(5, '0')}`;
  for (let check = 0; check < 100; check++) {
    const document = base + String(check).padStart(2, '0');
    if (isCpf(document)) return { name: `Cliente ${n + 1}`, document };
  }
  throw new Error(`no check digits for ${base}`);
};
