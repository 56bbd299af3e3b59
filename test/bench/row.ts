// A row of the table of architecture §10: a figure of ours beside its counterpart of the same run, and the goal.
import { median } from './statistics.ts';

export interface Row {
  readonly name: string;
  readonly what: string;
  readonly against: string;
  readonly unit: string;
  readonly ours: number;
  /** null: the goal is a bound, not a comparison. */
  readonly counterpart: number | null;
  /** Of rounds that were run in pairs: the ratio of each pair. */
  readonly ratios?: readonly number[];
  /** `met` null: measured without a goal. */
  readonly goal: { readonly text: string; readonly met: boolean | null };
  /** What else was measured in the same rounds, and what was counted afterwards. */
  readonly details: Readonly<Record<string, string | number>>;
}

export interface BenchOptions {
  /** One short round each: whether it runs, not how fast. */
  readonly quick: boolean;
  /** Events of the log in the rows whose figure depends on its length. */
  readonly events: number;
  /** Accounts in turn; null: one, or as many as the row needs. */
  readonly accounts: number | null;
  readonly say: (line: string) => void;
}

/** Names the accounts in a row's text. */
export const ofAccounts = (accounts: number | null): string =>
  accounts === null ? '' : `, ${accounts} accounts in turn`;

export type BenchRow = (options: BenchOptions) => Promise<readonly Row[]>;

export const ratioOf = ({ ours, counterpart, ratios }: Row): number | null =>
  ratios ? median(ratios) : counterpart === null ? null : ours / counterpart;
