// Keys that are rotated and revoked while many connections use them at several processes: what each request with an old or a new key got.
import { Agent } from 'undici';

export interface KeyLoad {
  /** Of the processes; each has its share of the connections, and of the rotations. */
  readonly baseUrls: readonly string[];
  readonly connections: number;
  /** Each is a rotation of the key that is in use, and the revocation of a spare one. */
  readonly rounds: number;
  /** Of an owner. */
  readonly authorization: string;
}

export interface KeyLoadResult {
  readonly requests: number;
  /** Requests that began after the answer that their key was rotated away or revoked, by status. */
  readonly withDead: Readonly<Record<number, number>>;
  /** Requests that began after the answer with their new key and ended before it was to be replaced, by status. */
  readonly withLive: Readonly<Record<number, number>>;
  /** Milliseconds of each rotation and revocation. */
  readonly tookMs: readonly number[];
}

interface Key {
  readonly id: string;
  readonly cleartext: string;
  /** `ending` while it is being rotated or revoked: then both answers are right. */
  state: 'live' | 'ending' | 'dead';
}

/** Dead keys that are still tried. */
const DEAD_TRIED = 8;

export const rotateUnderLoad = async ({
  baseUrls,
  connections,
  rounds,
  authorization,
}: KeyLoad): Promise<KeyLoadResult> => {
  const dispatcher = new Agent({ connections, pipelining: 1 });
  const withDead: Record<number, number> = {};
  const withLive: Record<number, number> = {};
  const tookMs: number[] = [];
  const dead: Key[] = [];
  let requests = 0;
  let isOver = false;

  const manage = async (round: number, method: string, path: string): Promise<Record<string, string>> => {
    const base = baseUrls[round % baseUrls.length] as string;
    const headers = { authorization, 'content-type': 'application/json' };
    const body = method === 'POST' ? { body: JSON.stringify({ test: true }) } : {};
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
  const end = async <Result>(key: Key, work: () => Promise<Result>): Promise<Result> => {
    const startedMs = performance.now();
    key.state = 'ending';
    const result = await work();
    key.state = 'dead';
    tookMs.push(performance.now() - startedMs);
    dead.push(key);
    if (dead.length > DEAD_TRIED) dead.shift();
    return result;
  };

  let used = keyOf(await manage(0, 'POST', '/v1/api-keys'));
  const call = async (worker: number): Promise<void> => {
    const origin = baseUrls[worker % baseUrls.length] as string;
    for (let turn = worker; !isOver; turn++) {
      const key = turn % 2 === 0 || dead.length === 0 ? used : (dead[turn % dead.length] as Key);
      const before = key.state;
      const headers = { apikey: key.cleartext };
      const { statusCode, body } = await dispatcher.request({
        origin,
        path: '/v1/sandbox/clock',
        method: 'GET',
        headers,
      });
      await body.dump();
      requests++;
      if (before === 'dead') withDead[statusCode] = (withDead[statusCode] ?? 0) + 1;
      else if (before === 'live' && key.state === 'live') withLive[statusCode] = (withLive[statusCode] ?? 0) + 1;
    }
  };
  const workers = Promise.all(Array.from({ length: connections }, (_, worker) => call(worker)));
  for (let round = 0; round < rounds; round++) {
    const spare = keyOf(await manage(round + 1, 'POST', '/v1/api-keys'));
    const old = used;
    const rotated = await end(old, async () => keyOf(await manage(round, 'POST', `/v1/api-keys/${old.id}/rotate`)));
    used = spare; // every process takes it up before it is revoked
    await Promise.all(baseUrls.map((origin) => seen(dispatcher, origin, spare.cleartext)));
    used = rotated;
    await end(spare, () => manage(round + 1, 'DELETE', `/v1/api-keys/${spare.id}`));
  }
  isOver = true;
  await workers;
  await dispatcher.close();
  return { requests, withDead, withLive, tookMs };
};

const seen = async (dispatcher: Agent, origin: string, apikey: string): Promise<void> => {
  const { body } = await dispatcher.request({ origin, path: '/v1/sandbox/clock', method: 'GET', headers: { apikey } });
  await body.dump();
};
