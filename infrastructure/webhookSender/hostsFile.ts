// The hosts file (hosts(5)), which c-ares queries do not read.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

export interface Hosts {
  /** Addresses of a lower-case name, IPv4 first; empty when the file does not name it. */
  lookup(name: string): readonly string[];
}

/** How long a reading counts: containers rewrite the file while they run. */
const FRESH_MS = 10_000;

const SYSTEM_HOSTS_FILE =
  process.platform === 'win32'
    ? `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';

/** A file that can't be read names nothing. `now`: monotonic, in ms. */
export function hostsFile(path = SYSTEM_HOSTS_FILE, now: () => number = () => performance.now()): Hosts {
  let names: ReadonlyMap<string, readonly string[]> = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    lookup(name) {
      if (now() - readAt >= FRESH_MS) {
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
