// Import circles: files of which none can be read, moved or tested without the others. Imports of types count as much as imports of values.
import { importsOf, type Problem, type Source } from './source.ts';

/** Files that are still in a circle. The list only gets shorter. */
export const CIRCLES_ALLOWED: readonly string[] = [
  'domain/dispute/evidence.ts',
  'domain/dispute/medCase.ts',
  'domain/kernel/serde.ts',
  'domain/kernel/unsaid.ts',
  'domain/transaction/heldSettlement.ts',
  'domain/transaction/refunds.ts',
  'domain/transaction/transaction.ts',
  'application/accounts/login.ts',
  'application/accounts/secondFactor.ts',
  'application/ports/jobs.ts',
  'application/ports/timers.ts',
  'http/kernel/impliedErrors.ts',
  'http/kernel/route.ts',
  'infrastructure/embeddedPostgres/dataDir.ts',
  'infrastructure/embeddedPostgres/osUser.ts',
  'infrastructure/embeddedPostgres/socketDir.ts',
  'infrastructure/eventStore/postgres/footing.ts',
  'infrastructure/eventStore/postgres/reader.ts',
  'infrastructure/eventStore/postgres/subscription.ts',
  'test/http/evidenceExamples.ts',
  'test/http/payoutExamples.ts',
  'test/http/opsExamples.ts',
  'test/http/routeExamples.ts',
];

type Graph = ReadonlyMap<string, readonly string[]>;

/** Returns the shortest way from a file back to itself, or null if there is none. */
const ringFrom = (needs: Graph, start: string): readonly string[] | null => {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const path of queue)
    for (const target of needs.get(path) ?? []) {
      if (!needs.has(target) || cameFrom.has(target)) continue;
      cameFrom.set(target, path);
      if (target !== start) queue.push(target);
      else {
        const ring = [start];
        do ring.unshift(cameFrom.get(ring[0] as string) as string);
        while (ring[0] !== start);
        return ring;
      }
    }
  return null;
};

/** Returns the shortest circle of each file that is in one; a circle of the same files once. */
export const circlesAmong = (sources: readonly Source[]): readonly (readonly string[])[] => {
  const needs: Graph = new Map(
    sources.map((source) => [source.path, importsOf(source).flatMap(({ target, isOurs }) => (isOurs ? [target] : []))]),
  );
  const rings = new Map<string, readonly string[]>();
  for (const path of needs.keys()) {
    const ring = ringFrom(needs, path);
    const files = [...new Set(ring)].sort().join();
    if (ring !== null && !rings.has(files)) rings.set(files, ring);
  }
  return [...rings.values()];
};

export const cycleProblems = (sources: readonly Source[], allowed = CIRCLES_ALLOWED): readonly Problem[] =>
  circlesAmong(sources)
    .filter((ring) => !ring.every((path) => allowed.includes(path)))
    .map((ring) => `${ring.join(' → ')}: these import each other`);

/** Returns files of the list that are in no circle. */
export const staleCircles = (sources: readonly Source[], allowed = CIRCLES_ALLOWED): readonly Problem[] => {
  const left = new Set(circlesAmong(sources).flat());
  return allowed
    .filter((path) => !left.has(path))
    .map((path) => `${path} is in no import circle: remove it from the list in test/support/tidy/cycles.ts`);
};
