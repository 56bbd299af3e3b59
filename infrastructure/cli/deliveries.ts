// `deliveries` and `dlq`: what was sent to a merchant's endpoints, what came of it, and what nobody took (rules W3, W8).

import { setTimeout as delay } from 'node:timers/promises';
import { parsePrefixedId } from '../../domain/kernel/ids.ts';
import { EVENT_CATALOGUE } from '../../domain/presentation/catalogue.ts';
import { DELIVERY_STATUSES } from '../../domain/presentation/delivery.ts';
import { WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { loadToolConfig } from '../config/config.ts';
import { Merchant } from '../demo/merchant.ts';
import { type CliCommand, type CliInput, type CliOption, UsageError } from './command.ts';
import { printable, type Screen, table } from './output.ts';

/** As the interface shows it (contract.md Webhook delivery). */
export interface Delivery {
  readonly id: string;
  readonly endpointId: string | null;
  readonly eventType: string;
  readonly status: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly nextRetryAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly payload: unknown;
}
/** What came of one attempt. */
interface Attempt {
  readonly number: number;
  readonly at: string;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}
interface DeliveryWithAttempts extends Delivery {
  readonly lastResponseBody?: string;
  readonly attemptLog: readonly Attempt[];
}
interface Page {
  readonly data: readonly Delivery[];
  readonly total: number;
}

/** Of one page, which the interface allows at most. */
const PAGE = 100;

const EVENT: CliOption = {
  description: 'of this event only',
  choice: { what: 'event', names: EVENT_CATALOGUE.map(({ event }) => event) },
};
const ENDPOINT: CliOption = { description: 'to this endpoint only, a we_ id' };
const STATUS: CliOption = {
  description: 'in this status only',
  choice: { what: 'status', names: DELIVERY_STATUSES },
};

/** The query that the options ask for; `fixed`: beside them. */
const queryOf = ({ options }: CliInput, fixed: Readonly<Record<string, string>> = {}): URLSearchParams =>
  new URLSearchParams({
    ...Object.fromEntries(
      (['status', 'event', 'endpoint'] as const).flatMap((name) => {
        const value = options[name];
        const parameter = { status: 'status', event: 'eventType', endpoint: 'endpointId' }[name];
        return typeof value === 'string' ? [[parameter, value]] : [];
      }),
    ),
    limit: String(PAGE),
    ...fixed,
  });

const pageOf = (merchant: Merchant, query: URLSearchParams): Promise<Page> =>
  merchant.call<Page>('GET', `/v1/webhooks/deliveries?${query}`);

export const HEAD = ['CREATED', 'DELIVERY', 'EVENT', 'ENDPOINT', 'STATUS', 'ATTEMPTS', 'NEXT', 'LAST ANSWER'];
export const deliveryCells = (delivery: Delivery): readonly string[] => [
  delivery.createdAt,
  delivery.id,
  delivery.eventType,
  delivery.endpointId ?? 'webhookUrl',
  delivery.status,
  `${delivery.attempts}/${delivery.maxAttempts}`,
  delivery.nextRetryAt ?? '-',
  delivery.lastError ?? String(delivery.lastStatusCode ?? '-'),
];

const listing = (
  name: string,
  summary: string,
  options: CliCommand['options'],
  fixed: Readonly<Record<string, string>>,
  none: string,
): CliCommand => ({
  name,
  summary: `${summary} (at most ${PAGE})`,
  args: [],
  options,
  isLocal: true,
  run: async ({ env }, input) => {
    const merchant = await Merchant.of(loadToolConfig(env));
    const { data, total } = await pageOf(merchant, queryOf(input, fixed));
    const rest = total > data.length ? `\nand ${total - data.length} more` : '';
    const text = (screen: Screen) => table(screen, HEAD, data.map(deliveryCells)) + rest;
    return { json: { deliveries: data, total }, text: total === 0 ? none : text };
  },
});

const list = listing(
  'deliveries list',
  'Webhooks of the account, newest first, and how their delivery stands',
  { status: STATUS, event: EVENT, endpoint: ENDPOINT },
  {},
  'there are no deliveries',
);
const deadLetters = listing(
  'dlq list',
  'Deliveries given up after their last attempt, newest first',
  { event: EVENT, endpoint: ENDPOINT },
  { status: 'FAILED' },
  'nothing was given up',
);

/** `deliveries/wd_…`, of what was typed: a wd_ id. Throws UsageError. */
const pathOf = ([id]: readonly string[]): string => {
  if (parsePrefixedId(id as string, WEBHOOK_DELIVERY.idPrefix) !== null) return `/v1/webhooks/deliveries/${id}`;
  throw new UsageError(`"${id}" is no delivery: a wd_ id; npm run cli -- deliveries list`);
};

const ATTEMPT_HEAD = ['ATTEMPT', 'AT', 'MS', 'ANSWER'];
const attemptCells = ({ number, at, durationMs, error, statusCode }: Attempt): readonly string[] => [
  String(number),
  at,
  String(durationMs),
  error ?? String(statusCode),
];
const shown =
  (delivery: DeliveryWithAttempts) =>
  (screen: Screen): string => {
    const { id, eventType, endpointId, status, attempts, maxAttempts, createdAt, nextRetryAt, attemptLog } = delivery;
    const next = nextRetryAt === null ? '' : `, the next at ${nextRetryAt}`;
    return [
      `${id}: ${eventType} to ${endpointId ?? 'the payment’s webhookUrl'}`,
      `${status}, created ${createdAt}, ${attempts} of ${maxAttempts} attempts made${next}`,
      ...(attemptLog.length === 0 ? [] : [table(screen, ATTEMPT_HEAD, attemptLog.map(attemptCells))]),
      ...(delivery.lastResponseBody === undefined ? [] : [`last answer: ${printable(delivery.lastResponseBody)}`]),
      `payload: ${JSON.stringify(delivery.payload)}`,
    ].join('\n');
  };

/** A command on one delivery, which shows what the interface answers. */
const onOne = (
  name: string,
  summary: string,
  call: (merchant: Merchant, path: string) => Promise<DeliveryWithAttempts>,
): CliCommand => ({
  name,
  summary,
  args: [{ name: 'delivery' }],
  options: {},
  isLocal: true,
  run: async ({ env }, { args }) => {
    const path = pathOf(args);
    const delivery = await call(await Merchant.of(loadToolConfig(env)), path);
    return { json: delivery, text: shown(delivery) };
  },
});

const show = onOne(
  'deliveries show',
  'One delivery: what came of each attempt, the last answer, and what is sent',
  (merchant, path) => merchant.call('GET', path),
);
const retry = onOne('deliveries retry', 'Send a delivery again at once, whatever has become of it', (merchant, path) =>
  merchant.call('POST', `${path}/retry`, {}),
);

const POLL_MS = 1_000;

const stateOf = ({ id, status, attempts }: Delivery): string => `${id} ${status} ${attempts}`;
/** Those that were not there at the last look, or stood otherwise; oldest first. */
const changed = (seen: readonly Delivery[], now: readonly Delivery[]): readonly Delivery[] => {
  const before = new Set(seen.map(stateOf));
  return now.filter((delivery) => !before.has(stateOf(delivery))).toReversed();
};

const tail: CliCommand = {
  name: 'deliveries tail',
  summary: `Deliveries as they change, until Ctrl-C: looks at the newest ${PAGE} once a second`,
  args: [],
  options: { event: EVENT, endpoint: ENDPOINT },
  isLocal: true,
  run: async ({ env, signal }, input, { print }) => {
    const merchant = await Merchant.of(loadToolConfig(env));
    const look = async () => (await pageOf(merchant, queryOf(input))).data;
    let seen = await look();
    while (!signal.aborted) {
      await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
      const now = await look();
      for (const delivery of changed(seen, now))
        print(input.isJson ? JSON.stringify(delivery) : deliveryCells(delivery).join('  '));
      seen = now;
    }
    return { json: undefined, text: '' };
  },
};

export const deliveryCommands: readonly CliCommand[] = [list, show, retry, tail, deadLetters];
