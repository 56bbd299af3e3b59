// Names to addresses without the process's thread pool: `dns.lookup` shares its few threads with files and crypto, and a
// handful of slow names would hold up all of them. c-ares asks the name servers on its own sockets (rule W4).
import { Resolver } from 'node:dns/promises';
import { raceAbort } from '../waiting.ts';
import type { Hosts } from './hostsFile.ts';

export interface AddressResolver {
  /**
   * All addresses of a name (lower case, no trailing dot, never an IP literal), the preferred first.
   * Rejects with an error that has a `code` (`ENOTFOUND`, `ENODATA`, `ETIMEOUT` …) when there are none.
   */
  resolve(name: string): Promise<readonly string[]>;
  /** Gives up what is in flight. */
  close(): void;
}

/** First wait for a name server; c-ares doubles it for the second try. */
const TRY_TIMEOUT_MS = 3_000;
const TRIES = 2;
/** How long the family that answered first waits for the other (RFC 8305 §3, Resolution Delay). */
const RESOLUTION_DELAY_MS = 50;

export interface DnsQueries {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
  cancel(): void;
}

/** A and AAAA at once; IPv4 first, because more hosts lack an IPv6 route than lack an IPv4 one. */
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
      await raceAbort(Promise.allSettled(stored), AbortSignal.timeout(RESOLUTION_DELAY_MS));
      return found.flat();
    },
    close: () => queries.cancel(),
  };
}

/** The hosts file wins over DNS, as everywhere; `localhost` and what ends in it is loopback (RFC 6761 §6.3). */
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
