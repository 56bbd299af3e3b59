// `deliveries` and `dlq`: lists and retries the webhook deliveries of one account (rules W3, W8).

import { setTimeout as delay } from 'node:timers/promises';
import { parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { EVENT_CATALOGUE } from '../../../domain/presentation/catalogue.ts';
import { DELIVERY_STATUSES } from '../../../domain/presentation/delivery.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { type CliCommand, type CliInput, type CliOption, type CommandWords, UsageError } from '../../cli/command.ts';
import { plainRow, printable, type Screen, table } from '../../cli/output.ts';
import { loadToolConfig } from '../../config/config.ts';
import { Merchant } from '../../demo/merchant.ts';

/** A delivery as the API returns it (contract.md Webhook delivery). */
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
/** The result of one attempt. */
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

/** The API's maximum page size. */
const PAGE = 100;

const EVENT: CliOption = {
  description: 'only deliveries of this event',
  choices: EVENT_CATALOGUE.map(({ event }) => event),
};
const ENDPOINT: CliOption = { description: 'only deliveries to this endpoint (a we_ id)' };
const STATUS: CliOption = {
  description: 'only deliveries in this status',
  choices: DELIVERY_STATUSES,
};

/** Builds the query from the options, plus the `fixed` parameters. */
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

export const HEAD = ['CREATED', 'DELIVERY', 'EVENT', 'ENDPOINT', 'STATUS', 'ATTEMPTS', 'NEXT', 'LAST RESPONSE'];
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
  options: CommandWords['options'],
  fixed: Readonly<Record<string, string>>,
  none: string,
): CliCommand => ({
  name,
  summary: `${summary} (at most ${PAGE})`,
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
  'List the account’s webhook deliveries and their status, newest first',
  { status: STATUS, event: EVENT, endpoint: ENDPOINT },
  {},
  'no deliveries',
);
const deadLetters = listing(
  'dlq list',
  'List deliveries that failed permanently, newest first',
  { event: EVENT, endpoint: ENDPOINT },
  { status: 'FAILED' },
  'no failed deliveries',
);

/** Returns the API path of a delivery. Throws UsageError unless the argument is a wd_ id. */
const pathOf = ([id]: readonly string[]): string => {
  if (parsePrefixedId(id as string, WEBHOOK_DELIVERY.idPrefix) !== null) return `/v1/webhooks/deliveries/${id}`;
  throw new UsageError(`"${id}" is not a delivery id (wd_…); npm run cli -- deliveries list shows them`);
};

const ATTEMPT_HEAD = ['ATTEMPT', 'AT', 'MS', 'RESPONSE'];
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
    const next = nextRetryAt === null ? '' : `, next attempt at ${nextRetryAt}`;
    return [
      `${id}: ${eventType} to ${endpointId ?? 'the payment’s webhookUrl'}`,
      `${status}, created ${createdAt}, ${attempts} of ${maxAttempts} attempts made${next}`,
      ...(attemptLog.length === 0 ? [] : [table(screen, ATTEMPT_HEAD, attemptLog.map(attemptCells))]),
      ...(delivery.lastResponseBody === undefined ? [] : [`last response: ${printable(delivery.lastResponseBody)}`]),
      `payload: ${JSON.stringify(delivery.payload)}`,
    ].join('\n');
  };

/** A command on one delivery that prints the API's response. */
const onOne = (
  name: string,
  summary: string,
  call: (merchant: Merchant, path: string) => Promise<DeliveryWithAttempts>,
): CliCommand => ({
  name,
  summary,
  args: [{ name: 'delivery' }],
  isLocal: true,
  run: async ({ env }, { args }) => {
    const path = pathOf(args);
    const delivery = await call(await Merchant.of(loadToolConfig(env)), path);
    return { json: delivery, text: shown(delivery) };
  },
});

const show = onOne(
  'deliveries show',
  'Show a delivery: the result of each attempt, the last response and the payload',
  (merchant, path) => merchant.call('GET', path),
);
const retry = onOne('deliveries retry', 'Retry a delivery immediately, whatever its status', (merchant, path) =>
  merchant.call('POST', `${path}/retry`, {}),
);

const POLL_MS = 1_000;

const stateOf = ({ id, status, attempts }: Delivery): string => `${id} ${status} ${attempts}`;
/** Returns the deliveries that are new or changed since the last poll, oldest first. */
const changed = (seen: readonly Delivery[], now: readonly Delivery[]): readonly Delivery[] => {
  const before = new Set(seen.map(stateOf));
  return now.filter((delivery) => !before.has(stateOf(delivery))).toReversed();
};

const tail: CliCommand = {
  name: 'deliveries tail',
  summary: `Print deliveries as they change, until Ctrl-C; polls the newest ${PAGE} every second`,
  options: { event: EVENT, endpoint: ENDPOINT },
  isLocal: true,
  run: async ({ env, signal }, input, { print, warn }) => {
    const merchant = await Merchant.of(loadToolConfig(env));
    const look = async () => (await pageOf(merchant, queryOf(input))).data;
    let seen = await look();
    let isWarned = false;
    // A restart of the program must not end the command. The first successful poll shows what changed meanwhile.
    const lookAgain = async () => {
      try {
        const now = await look();
        isWarned = false;
        return now;
      } catch (error) {
        if (!isWarned) warn(`${(error as Error).message}; polling again until Ctrl-C`);
        isWarned = true;
        return seen;
      }
    };
    while (!signal.aborted) {
      await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
      const now = await lookAgain();
      for (const delivery of changed(seen, now))
        print(input.isJson ? JSON.stringify(delivery) : plainRow(deliveryCells(delivery)));
      seen = now;
    }
    return { json: undefined, text: '' };
  },
};

export const deliveryCommands: readonly CliCommand[] = [list, show, retry, tail, deadLetters];
