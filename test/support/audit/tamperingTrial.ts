// A trial of the tampering law: verification accepts an untouched export, and names the place of the fault in a tampered one.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { writeSyntheticExport } from './syntheticExport.ts';
import { type Draw, GENUINE, TAMPERINGS, TRUSTED } from './tamperings.ts';
import type { Verify } from './verifiers.ts';

const DRAW_MAX = 0x7fff_ffff;
/** Evenly distributed numbers, so that every place is as likely as the first. */
export const DRAWS = fc.infiniteStream(fc.noBias(fc.nat(DRAW_MAX)));
export const drawFrom =
  (numbers: Iterator<number>): Draw =>
  (max) =>
    Math.floor(((numbers.next().value as number) / (DRAW_MAX + 1)) * (max + 1));

/** Returns the entries that a fault names. */
export const placeOf = (fault: string): readonly [number, number] | null => {
  const [, from, to = from] = /^entr(?:y|ies) (\d+)(?: to (\d+))?: /.exec(fault) ?? [];
  return from === undefined ? null : [Number(from), Number(to)];
};

/** Returns whether a fault starts at one of these entries. */
const names = (faults: readonly string[], [from, to]: readonly [number, number]): boolean =>
  faults.some((fault) => {
    const place = placeOf(fault);
    return place !== null && place[0] >= from && place[0] <= to;
  });

/** Tampers with copies of an export, `trials` times. All verifiers must find the same faults. */
export const expectTamperingsFound = async (verifiers: readonly Verify[], trials: number): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), 'quita-tampering-'));
  const genuine = join(root, 'genuine');
  const trust = { keys: TRUSTED, checkpoints: [] };
  try {
    writeSyntheticExport(genuine, GENUINE);
    for (const verify of verifiers) expect(await verify(genuine, trust)).to.deep.equal([]);
    const kinds = Object.entries(TAMPERINGS);
    let trial = 0;
    await fc.assert(
      fc.asyncProperty(DRAWS, async (random) => {
        const [what, tamper] = kinds[trial % kinds.length] as (typeof kinds)[number];
        const folder = join(root, String(trial++));
        cpSync(genuine, folder, { recursive: true });
        const draw = drawFrom(random);
        const { at, held } = tamper(folder, draw);
        const checkpoints = held === undefined ? [] : [held];
        const found = await Promise.all(verifiers.map((verify) => verify(folder, { ...trust, checkpoints })));
        for (const faults of found) {
          expect(faults, what).to.not.deep.equal([]);
          expect(faults, what).to.deep.equal(found[0]);
          if (at !== null)
            expect(names(faults, at), `${what} at ${at}: ${faults.slice(0, 5).join('; ')}`).to.equal(true);
        }
        rmSync(folder, { recursive: true });
      }),
      { numRuns: trials, endOnFailure: true },
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};
