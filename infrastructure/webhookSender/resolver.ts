// Resolves names without the process's thread pool. `dns.lookup` shares its few threads with files and crypto, so a few slow names would
// block all of them. c-ares queries the name servers on its own sockets (rule W4).
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { raceAbort } from '../waiting.ts';

export interface AddressResolver {
  /**
   * Returns all addresses of a name (lower case, no trailing dot, never an IP literal), the preferred first.
   * Rejects with an error that has a `code` (`ENOTFOUND`, `ENODATA`, `ETIMEOUT` …) if it finds no address.
   */
  resolve(name: string): Promise<readonly string[]>;
  /** Cancels running queries. */
  close(): void;
}

/** Timeout of the first try; c-ares doubles it for the second. */
const TRY_TIMEOUT_MS = 3_000;
const TRIES = 2;
/** How long IPv4 waits for IPv6 if it answered first (RFC 8305 §3, Resolution Delay). */
const RESOLUTION_DELAY_MS = 50;
/** How long IPv6 waits for IPv4: without an IPv6 route, its addresses alone are of no use for as long as they are cached. */
const IPV4_DELAY_MS = 1_000;

interface DnsQueries {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
  cancel(): void;
}

/** Queries A and AAAA at once. IPv4 comes first, because more hosts lack an IPv6 route than an IPv4 one. */
export function dnsResolver(
  queries: DnsQueries = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES }),
): AddressResolver {
  return {
    async resolve(name) {
      const families = [queries.resolve4(name), queries.resolve6(name)] as const;
      const found: string[][] = [[], []];
      const stored = families.map(async (family, index) => {
        found[index] = await family;
      });
      try {
        await Promise.any(stored);
      } catch (error) {
        throw error instanceof AggregateError ? error.errors[0] : error;
      }
      const delayMs = found[0]?.length === 0 ? IPV4_DELAY_MS : RESOLUTION_DELAY_MS;
      await raceAbort(Promise.allSettled(stored), AbortSignal.timeout(delayMs));
      return found.flat();
    },
    close: () => queries.cancel(),
  };
}

/** The hosts file takes precedence over DNS. `localhost` and names that end in `.localhost` are loopback (RFC 6761 §6.3). */
export function hostsFirst(hosts: Hosts, next: AddressResolver): AddressResolver {
  return {
    async resolve(name) {
      const listed = hosts.lookup(name);
      if (listed.length > 0) return listed;
      if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'];
      return next.resolve(name);
    },
    close: () => next.close(),
  };
}

// The hosts file (hosts(5)), which c-ares queries do not read.

interface Hosts {
  /** Returns the addresses of a lower-case name, IPv4 first; empty if the file does not list it. */
  lookup(name: string): readonly string[];
}

/** How long the file's content is cached. Containers rewrite the file while they run. */
const HOSTS_FRESH_MS = 10_000;

const SYSTEM_HOSTS_FILE =
  process.platform === 'win32'
    ? `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';

/** An unreadable file counts as empty. `now`: monotonic, in ms. */
export function hostsFile(path = SYSTEM_HOSTS_FILE, now: () => number = () => performance.now()): Hosts {
  let names: ReadonlyMap<string, readonly string[]> = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    lookup(name) {
      if (now() - readAt >= HOSTS_FRESH_MS) {
        names = parseHosts(readText(path));
        readAt = now();
      }
      return names.get(name) ?? [];
    },
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const alias of aliases) {
      const name = alias.toLowerCase();
      names.set(name, [...(names.get(name) ?? []), address]);
    }
  }
  for (const addresses of names.values()) addresses.sort((a, b) => isIP(a) - isIP(b));
  return names;
}

/** How long an answer is cached. */
const ANSWER_FRESH_MS = 10_000;
const MAX_NAMES = 10_000;

interface Entry {
  readonly addresses: Promise<readonly string[]>;
  /** Monotonic ms; infinite while the query runs. */
  freshUntil: number;
}

/**
 * Caches answers for 10 s, so that a busy endpoint does not depend on its name server. Concurrent connections share one query. Failures
 * are not cached. `now`: monotonic, in ms.
 */
export function cachedResolver(next: AddressResolver, now: () => number = () => performance.now()): AddressResolver {
  const entries = new Map<string, Entry>();

  function ask(name: string): Promise<readonly string[]> {
    const entry: Entry = { addresses: next.resolve(name), freshUntil: Number.POSITIVE_INFINITY };
    entries.delete(name);
    entries.set(name, entry);
    const oldest = entries.keys().next();
    if (entries.size > MAX_NAMES && oldest.done !== true) entries.delete(oldest.value);
    entry.addresses.then(
      () => {
        entry.freshUntil = now() + ANSWER_FRESH_MS;
      },
      () => {
        if (entries.get(name) === entry) entries.delete(name);
      },
    );
    return entry.addresses;
  }

  return {
    resolve(name) {
      const entry = entries.get(name);
      return entry !== undefined && now() < entry.freshUntil ? entry.addresses : ask(name);
    },
    close: () => next.close(),
  };
}
