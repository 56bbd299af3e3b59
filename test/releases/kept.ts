// What each release leaves for its successors: a dump with data of all capabilities in both modes, and the answers at that time.
import { readdirSync } from 'node:fs';
import { AGGREGATES } from '../../domain/aggregates.ts';
import type { EventSerde } from '../../domain/kernel/serde.ts';
import { API_ROUTES } from '../../http/api/routes.ts';
import type { TestGateway, TestTenant } from '../world/gateway.ts';

export const RELEASES = new URL('../fixtures/releases/', import.meta.url);
export const DUMP = 'quita.dump';
export const ANSWERS = 'answers.json';
export const EVENTS = 'events.json';
export const DUMP_BYTES_MAX = 5_000_000;

export const keptReleases = (): readonly string[] =>
  readdirSync(RELEASES).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));

interface Versions {
  /** Newest version that the release can read. */
  readonly reads: number;
  readonly writes: number;
}

/** Returns the versions of each stored event type. */
export const eventVersions = (): Record<string, Versions> =>
  Object.fromEntries(
    AGGREGATES.flatMap(({ serde }) =>
      Object.entries(serde.table as Record<string, EventSerde<unknown>>).map(
        ([type, { version, writes = version }]) => [type, { reads: version, writes }] as const,
      ),
    ),
  );

export interface KeptAnswers {
  readonly keys: Pick<TestTenant, 'testKey' | 'liveKey'>;
  /** JSON bodies by key and path. */
  readonly answers: Readonly<Record<keyof KeptAnswers['keys'], Readonly<Record<string, unknown>>>>;
}

/** Answers that depend on the time or the state of the process. */
const PASSING = ['/v1/sandbox/clock'];
const LISTS = API_ROUTES.filter(
  ({ method, path, principal, responses }) =>
    method === 'GET' &&
    principal === 'apiKey' &&
    !path.includes('{') &&
    responses[200]?.kind === 'json' &&
    !PASSING.includes(path),
).map(({ path }) => path);

/** Returns the answers of every list and every charge. */
export const askAll = async (gateway: TestGateway, key: string): Promise<Record<string, unknown>> => {
  const answers: Record<string, unknown> = {};
  const ask = async (path: string): Promise<unknown> => {
    const { status, body } = await gateway.get(path, { key });
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    answers[path] = body;
    return body;
  };
  for (const path of LISTS) await ask(path);
  const { data } = (await ask('/v1/charges?limit=100')) as { data: readonly { id: string }[] };
  for (const { id } of data) await ask(`/v1/charges/${id}`);
  return answers;
};
