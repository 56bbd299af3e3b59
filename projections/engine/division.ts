// Divides the work of a role among its processes. Each process computes the same division from the same list, so none has to assign it.
import type { Sharer } from '../../application/ports/sql.ts';

/**
 * Returns the work of each process, in their order. Each piece belongs to exactly one process that can lead it. The shares are equal, as
 * far as the processes can lead the same work. The division changes only when the processes change.
 */
export const divided = (sharers: readonly Pick<Sharer, 'able'>[]): readonly (readonly string[])[] => {
  const shares = sharers.map((): string[] => []);
  const candidates = (name: string) =>
    sharers.flatMap(({ able }, n) => (able.includes(name) ? [shares[n] as string[]] : []));
  // Work that few processes can lead comes first, so that they get less of the other work.
  const work = [...new Set(sharers.flatMap(({ able }) => able))]
    .map((name) => ({ name, candidates: candidates(name) }))
    .toSorted((a, b) => a.candidates.length - b.candidates.length || (a.name < b.name ? -1 : 1));
  for (const { name, candidates: able } of work)
    able.reduce((least, share) => (share.length < least.length ? share : least)).push(name);
  return shares;
};
