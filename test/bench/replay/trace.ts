// The traces of a day: the events of all streams, webhooks, and the answers to all reads.
import { codeOf } from '../../support/totp.ts';
import type { Side } from '../side.ts';
import type { Merchant } from './merchant.ts';
import { Names, timeOf } from './normalise.ts';

interface Recorded {
  readonly stream: string;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}
interface Page {
  readonly [name: string]: unknown;
}

const PAGE = 100;
const HOUR_MS = 3_600_000;
/** Maximum difference between two runs in the time from one event to a later one. */
const LATE_MS = 20 * 60_000;

const isDelivery = (stream: string): boolean => stream.startsWith('webhookDelivery-');

/** Returns one text per stream: its name, then a line per event with the hours since the first event. */
const streamsOf = async ({ sql }: Side): Promise<readonly string[]> => {
  const { rows } = await sql.query<Recorded>(
    'SELECT stream, id, type, data, metadata FROM event_store.events ORDER BY stream, revision',
  );
  return [...Map.groupBy(rows, ({ stream }) => stream)].map(([stream, events]) => {
    const happenedMs = events.map(({ data }) => timeOf(`  ${data}`));
    const lines = events.map(({ id, type, data, metadata }, n) => {
      const hours = Math.floor(((happenedMs[n] as number) - (happenedMs[0] as number) + LATE_MS) / HOUR_MS);
      const when = Number.isNaN(hours) || isDelivery(stream) ? '' : `+${hours} h `; // retries are spread at random
      return `  ${when}${type} ${id} ${data} ${metadata}`;
    });
    return [stream, ...lines].join('\n');
  });
};

/** Returns each item of a page by itself, because times in a line are relative to the creation of its object. */
const itemsOf = (path: string, page: Page): readonly string[] => {
  const name = Object.keys(page).find((key) => Array.isArray(page[key]));
  if (name === undefined) return [`GET ${path} ${JSON.stringify(page)}`];
  const items = (page[name] as readonly unknown[]).map((item) => `GET ${path} ${name} ${JSON.stringify(item)}`);
  return [`GET ${path} ${JSON.stringify({ ...page, [name]: items.length })}`, ...items];
};

const readsOf = async (side: Side, { ids, cases }: Merchant): Promise<readonly string[]> => {
  const lines: string[] = [];
  const read = async (path: string): Promise<Page> => {
    const page = await side.call<Page>(path);
    lines.push(...itemsOf(path, page));
    return page;
  };
  let cursor: unknown = '';
  do {
    const after = cursor === '' ? '' : `&starting_after=${cursor}`;
    cursor = (await read(`/v1/charges?limit=${PAGE}${after}`))['next_cursor'];
  } while (cursor);
  for (const page of [1, 2]) await read(`/v1/payments?limit=${PAGE}&page=${page}`);
  for (const id of ids) {
    const raw = id.replace(/^\w+_/, '');
    await read(`/v1/payments/${raw}`);
    await read(`/v1/payments/${raw}/refunds`);
    await read(`/v1/payments/${raw}/provider-status`);
    if (id.startsWith('ch_')) await read(`/v1/charges/${id}`);
  }
  await read(`/v1/med/cases?limit=${PAGE}`);
  for (const id of cases) {
    await read(`/v1/med/cases/${id}`);
    await read(`/v1/med/cases/${id}/evidence`);
  }
  await read('/v1/wallets/balance');
  await read('/v1/wallets');
  await read('/v1/webhooks/endpoints');
  await read('/v1/webhooks/stats');
  await read('/v1/payments/stats?days=365');
  await read('/v1/payments/metrics?days=365');
  return lines;
};

/** Returns operators’ reads: the ledger, as a whole and by payment, and pending work. */
const operatorsReadsOf = async (side: Side, ids: readonly string[]): Promise<readonly string[]> => {
  const email = 'operator@example.com';
  const user = await side.cli('user', 'add', '--email', email, '--role', 'OPERATOR', '--json');
  const { password } = JSON.parse(user) as { password: string };
  const { token } = await side.call<{ token: string }>('/v1/auth/login', { email, password });
  const bearer = { authorization: `Bearer ${token}` };
  const { secret } = await side.call<{ secret: string }>('/v1/auth/totp/enroll', {}, bearer);
  await side.call('/v1/auth/totp/confirm', { code: codeOf(secret) }, bearer);
  const paths = ['/ops/v1/ledger/check', '/ops/v1/held', '/ops/v1/jobs', '/ops/v1/med/review', '/ops/v1/parked'];
  const lines: string[] = [];
  for (const path of [...paths, ...ids.map((id) => `/ops/v1/ledger/payments/${id.replace(/^\w+_/, '')}`)])
    lines.push(...itemsOf(path, await side.call<Page>(path, undefined, bearer)));
  return lines;
};

/** Times that differ because retries are spread at random. */
const SPREAD = /"(at|deliveredAt|updatedAt)":"[^"]+"/g;

const deliveriesOf = async (side: Side): Promise<readonly string[]> => {
  const deliveries: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await side.call<Page>(`/v1/webhooks/deliveries?limit=${PAGE}&offset=${offset}`);
    const items = Object.values(page).find(Array.isArray) as readonly { readonly id: string }[];
    for (const { id } of items) {
      const one = await side.call<Page>(`/v1/webhooks/deliveries/${id}`);
      const text = JSON.stringify(one).replaceAll(SPREAD, '"$1":"<spread>"');
      deliveries.push(`GET /v1/webhooks/deliveries/${id} ${text}`);
    }
    if (items.length < PAGE) return deliveries;
  }
};

/** The raw recording, with ids, secrets and times. */
interface Recording {
  /** Addresses of this run, with their replacements. */
  readonly addresses: readonly (readonly [string, string])[];
  readonly streams: readonly string[];
  readonly answers: readonly string[];
  readonly webhooks: readonly string[];
  readonly deliveries: readonly string[];
}

export const recordingOf = async (side: Side, merchant: Merchant): Promise<Recording> => ({
  addresses: [
    [merchant.hook, '<receiver>'],
    [`127.0.0.1:${side.port}`, '<gateway>'],
  ],
  streams: await streamsOf(side),
  answers: [...merchant.answers, ...(await readsOf(side, merchant)), ...(await operatorsReadsOf(side, merchant.ids))],
  webhooks: merchant.webhooks,
  deliveries: await deliveriesOf(side),
});

/** Returns the day as lines that are equal in every run of the same program. */
export const linesOf = ({ addresses, streams, answers, webhooks, deliveries }: Recording): readonly string[] => {
  const names = new Names(addresses);
  // Deliveries differ in little but the ids of payments and endpoints, so these ids get their names first.
  const [facts, told] = [streams.filter((stream) => !isDelivery(stream)), streams.filter(isDelivery)];
  return [
    ...['# events', ...names.inOrder(facts), ...names.inOrder(told)],
    ...['# answers and reads', ...answers.map((line) => names.named(line))],
    ...['# webhooks', ...names.inOrder(webhooks)],
    ...['# deliveries', ...names.inOrder(deliveries)],
  ];
};
