// Rotates and revokes keys while many connections use them on several processes. Records the status of each request by the state of its
// key.
import { Agent } from 'undici';

/** A process that is paused while a key is rotated or revoked, and resumed afterwards. */
export interface Frozen {
  readonly baseUrl: string;
  freeze(): void;
  thaw(): void;
}

interface KeyLoad {
  /** Base URLs of the processes. Each gets its share of the connections and of the rotations. */
  readonly baseUrls: readonly string[];
  /** The process that is frozen during each rotation and revocation, which the others answer. */
  readonly frozen?: Frozen;
  readonly connections: number;
  /** Number of rounds. Each rotates the key in use and revokes a spare one. */
  readonly rounds: number;
  /** Token of an owner. */
  readonly authorization: string;
}

export interface KeyLoadResult {
  readonly requests: number;
  /** Requests by status that began after their key had been rotated or revoked. */
  readonly withDead: Readonly<Record<number, number>>;
  /** Requests by status with a new key, between the response that issued it and the start of its replacement. */
  readonly withLive: Readonly<Record<number, number>>;
  /** Distinct messages of responses with status 500 or more. */
  readonly faults: readonly string[];
  /** Milliseconds of each rotation and revocation. */
  readonly tookMs: readonly number[];
}

interface Key {
  readonly id: string;
  readonly cleartext: string;
  /** `ending` while the key is being rotated or revoked, when both outcomes are valid. */
  state: 'live' | 'ending' | 'dead';
}

/** Number of dead keys that are still used. */
const DEAD_TRIED = 8;
/** Number of requests with a dead key that wait for the frozen process to resume. */
const LATE_REQUESTS = 8;
/** Pause between two freezes. A process that lags in two successive samples of 100 ms treats itself as overloaded. */
const ON_TIME_MS = 500;

export const rotateUnderLoad = async ({
  baseUrls,
  frozen,
  connections,
  rounds,
  authorization,
}: KeyLoad): Promise<KeyLoadResult> => {
  const managing = baseUrls.filter((baseUrl) => baseUrl !== frozen?.baseUrl);
  const dispatcher = new Agent({ connections, pipelining: 1 });
  const withDead: Record<number, number> = {};
  const withLive: Record<number, number> = {};
  const faults = new Set<string>();
  const tookMs: number[] = [];
  const dead: Key[] = [];
  let requests = 0;
  let isOver = false;

  const manage = async (round: number, method: string, path: string): Promise<Record<string, string>> => {
    const base = managing[round % managing.length] as string;
    const headers = { authorization, 'content-type': 'application/json' };
    const body = method === 'POST' && !path.endsWith('/rotate') ? { body: JSON.stringify({ test: true }) } : {};
    const response = await dispatcher.request({ origin: base, path, method: method as 'POST', headers, ...body });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    return JSON.parse(text) as Record<string, string>;
  };
  const keyOf = ({ id, apiKey }: Record<string, string>): Key => ({
    id: id as string,
    cleartext: apiKey as string,
    state: 'live',
  });
  const get = async (origin: string, apikey: string): Promise<number> => {
    const path = '/v1/sandbox/clock';
    // Each request has its own client address. Otherwise dead keys from one address would soon be rejected without a lookup.
    const client = `10.${(requests >> 16) & 255}.${(requests >> 8) & 255}.${requests & 255}`;
    requests++;
    const headers = { apikey, 'x-forwarded-for': client };
    const { statusCode, body } = await dispatcher.request({ origin, path, method: 'GET', headers });
    const text = await body.text();
    if (statusCode >= 500) faults.add((JSON.parse(text) as { error: { message: string } }).error.message);
    return statusCode;
  };
  const count = (counts: Record<number, number>, status: number): void => {
    counts[status] = (counts[status] ?? 0) + 1;
  };
  const end = async <Result>(key: Key, work: () => Promise<Result>): Promise<Result> => {
    frozen?.freeze();
    const startedMs = performance.now();
    key.state = 'ending';
    const result = await work();
    key.state = 'dead';
    tookMs.push(performance.now() - startedMs);
    dead.push(key);
    if (dead.length > DEAD_TRIED) dead.shift();
    if (frozen) {
      const late = Array.from({ length: LATE_REQUESTS }, () => get(frozen.baseUrl, key.cleartext));
      frozen.thaw();
      for (const status of await Promise.all(late)) count(withDead, status);
      const onTimeMs = performance.now() + ON_TIME_MS;
      while (performance.now() < onTimeMs) count(withDead, await get(frozen.baseUrl, key.cleartext));
    }
    return result;
  };

  let live = [keyOf(await manage(0, 'POST', '/v1/api-keys'))];
  const call = async (worker: number): Promise<void> => {
    const origin = baseUrls[worker % baseUrls.length] as string;
    for (let turn = worker; !isOver; turn++) {
      const from = turn % 2 === 0 || dead.length === 0 ? live : dead;
      const key = from[(turn >> 1) % from.length] as Key;
      const before = key.state;
      const status = await get(origin, key.cleartext);
      if (before === 'dead') count(withDead, status);
      else if (before === 'live' && key.state === 'live') count(withLive, status);
    }
  };
  const workers = Promise.all(Array.from({ length: connections }, (_, worker) => call(worker)));
  for (let round = 0; round < rounds; round++) {
    const [old] = live as [Key];
    const spare = keyOf(await manage(round + 1, 'POST', '/v1/api-keys'));
    live = [old, spare];
    const fresh = await end(old, async () => keyOf(await manage(round, 'POST', `/v1/api-keys/${old.id}/rotate`)));
    live = [fresh, spare];
    // Waits until every process has seen the key before it is revoked.
    await Promise.all(baseUrls.map((origin) => get(origin, spare.cleartext)));
    await end(spare, () => manage(round + 1, 'DELETE', `/v1/api-keys/${spare.id}`));
    live = [fresh];
  }
  isOver = true;
  await workers;
  await dispatcher.close();
  return { requests, withDead, withLive, faults: [...faults], tookMs };
};
