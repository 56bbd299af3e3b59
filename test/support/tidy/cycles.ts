// Finds import cycles: files that can’t be read, moved or tested without each other. Type imports count too.
import { importsOf, type Problem, type Source } from './source.ts';

type Graph = ReadonlyMap<string, readonly string[]>;

/** Returns the shortest path from a file back to itself, or null if there is none. */
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

/** Returns the shortest cycle of each file that is in one, without repeating the same set of files. */
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

export const cycleProblems = (sources: readonly Source[]): readonly Problem[] =>
  circlesAmong(sources).map((ring) => `${ring.join(' → ')}: these import each other`);
