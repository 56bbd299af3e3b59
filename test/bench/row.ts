// A row of the table of architecture §10: one of our figures, its counterpart of the same run, and the goal.
import { median } from './statistics.ts';

export interface Row {
  readonly name: string;
  readonly what: string;
  readonly against: string;
  readonly unit: string;
  readonly ours: number;
  /** null: the goal is a bound, not a comparison. */
  readonly counterpart: number | null;
  /** The ratio of each pair, if rounds were run in pairs. */
  readonly ratios?: readonly number[];
  /** `met` null: no goal was set. */
  readonly goal: { readonly text: string; readonly met: boolean | null };
  /** Other figures of the same rounds, and counts afterwards. */
  readonly details: Readonly<Record<string, string | number>>;
}

export interface BenchOptions {
  /** One short round each, to check that everything runs. */
  readonly quick: boolean;
  /** Length of the log, for rows that depend on it. */
  readonly events: number;
  /** Number of accounts that take turns; null: one, or as many as the row needs. */
  readonly accounts: number | null;
  readonly say: (line: string) => void;
}

/** Returns the part of a row’s text that names the accounts. */
export const ofAccounts = (accounts: number | null): string =>
  accounts === null ? '' : `, ${accounts} accounts in turn`;

export type BenchRow = (options: BenchOptions) => Promise<readonly Row[]>;

export const ratioOf = ({ ours, counterpart, ratios }: Row): number | null =>
  ratios ? median(ratios) : counterpart === null ? null : ours / counterpart;
