// Answers are kept for a few seconds, so that a busy endpoint does not depend on its name server, and asked for once
// however many connections are opened meanwhile. Failures are not kept.
import type { AddressResolver } from './resolver.ts';

const FRESH_MS = 10_000;
const MAX_NAMES = 10_000;

interface Entry {
  readonly addresses: Promise<readonly string[]>;
  /** Monotonic ms; infinite while the answer is awaited. */
  freshUntil: number;
}

/** `now`: monotonic, in ms. */
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
        entry.freshUntil = now() + FRESH_MS;
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
