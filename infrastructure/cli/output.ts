// Output of the command line: colors and tables on a terminal, plain lines elsewhere, and progress of long work.

import { Presets, SingleBar } from 'cli-progress';
import pc from 'picocolors';
import { CURRENCY_DECIMALS } from '../../domain/charge/methods.ts';
import { decimalText } from '../../domain/kernel/money.ts';

/** An output stream: standard output, standard error, or a test's. */
export interface Out {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Screen {
  /** Columns of the terminal; null if the output is no terminal, which leaves lines uncut. */
  readonly width: number | null;
  readonly colours: ReturnType<typeof pc.createColors>;
}

const WIDTH_DEFAULT = 80;

/** Uses colors on a terminal only. NO_COLOR switches them off; FORCE_COLOR switches them on elsewhere, too. */
export const screenOf = ({ isTTY = false, columns }: Out, env: NodeJS.ProcessEnv): Screen => {
  const isForced = !['', '0', 'false'].includes(env['FORCE_COLOR'] ?? '');
  const isColoured = !env['NO_COLOR'] && (isForced || (isTTY && env['TERM'] !== 'dumb'));
  return { width: isTTY ? (columns ?? WIDTH_DEFAULT) : null, colours: pc.createColors(isColoured) };
};

const GAP = '  ';
/** Minimum widths of a column, and of the last one, which is free text. */
const COLUMN_MIN = 6;
const LAST_MIN = 16;
const withoutControls = (text: string): string => text.replace(/\p{Cc}/gu, '?');
/** Replaces control characters, so that foreign text can't control the terminal. */
export const printable = (text: string): string => withoutControls(text).trim();
const cut = (text: string, width: number): string => (text.length > width ? `${text.slice(0, width - 1)}…` : text);
/** Returns a row uncut, and with the spaces that align its cells. */
export const plainRow = (cells: readonly string[]): string => cells.map(withoutControls).join(GAP);
const isNumber = (text: string): boolean => /^-?\d+(\.\d+)?$/.test(text);

/** Returns the widths of the columns. If they exceed the terminal, the last column shrinks first, then the widest. */
const fitted = (rows: readonly (readonly string[])[], width: number): readonly number[] => {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const last = widths.length - 1;
  const room = width - GAP.length * last;
  const excess = () => widths.reduce((sum, each) => sum + each, 0) - room;
  widths[last] = Math.max(Math.min(widths[last] as number, LAST_MIN), (widths[last] as number) - Math.max(0, excess()));
  for (let widest = Math.max(...widths); excess() > 0 && widest > COLUMN_MIN; widest = Math.max(...widths))
    widths[widths.indexOf(widest)] = widest - 1;
  return widths;
};

/**
 * Returns one line per row, without the data's control characters. On a terminal, lines are aligned under a head and cut to its width.
 * Elsewhere the cells are uncut and separated by two spaces, for use by programs.
 */
export const table = (
  { width, colours }: Screen,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string => {
  if (width === null || rows.length === 0) return rows.map(plainRow).join('\n');
  const shown = rows.map((row) => row.map(printable));
  const widths = fitted([head, ...shown], width);
  const areNumbers = head.map((_, i) => shown.every((row) => isNumber(row[i] ?? '')));
  const lines = [head, ...shown].map((row) => {
    const cells = row.map((cell, i) => {
      const wide = widths[i] as number;
      return areNumbers[i] ? cut(cell, wide).padStart(wide) : cut(cell, wide).padEnd(wide);
    });
    return cut(cells.join(GAP).trimEnd(), width);
  });
  return [colours.bold(lines[0] as string), ...lines.slice(1)].join('\n');
};

/** Returns the amount with the currency's decimals, like `12.34`; for an unknown currency, the minor units. */
export const amountText = (minor: number, currency: string): string =>
  decimalText(minor, CURRENCY_DECIMALS[currency] ?? 0);

export interface Progress {
  /** `done` runs from 0 to 1. `what` describes the current work in a few words, with figures. */
  show(done: number, what: string): void;
  /** Removes the bar from the screen, before other output and at the end. */
  clear(): void;
}

export const NO_PROGRESS: Progress = { show: () => undefined, clear: () => undefined };

const LINE_EVERY_MS = 1_000;
const BAR_WIDTH = 30;

/** Shows a bar on a terminal; elsewhere at most one line per second. `nowMs` is a monotonic clock. */
export const progressOn = (err: Out, nowMs: () => number): Progress => (err.isTTY ? bar(err) : lines(err, nowMs));

const bar = (err: Out): Progress => {
  let open: SingleBar | null = null;
  return {
    show: (done, what) => {
      if (open === null) {
        const options = { format: '{bar} {percentage} %  {what}', barsize: BAR_WIDTH, clearOnComplete: true };
        open = new SingleBar(
          { ...options, hideCursor: true, stream: err as NodeJS.WritableStream },
          Presets.shades_classic,
        );
        open.start(1, done, { what });
      }
      open.update(done, { what });
    },
    clear: () => {
      open?.stop();
      open = null;
    },
  };
};

const lines = (err: Out, nowMs: () => number): Progress => {
  let printedAtMs = nowMs();
  return {
    show: (done, what) => {
      if (nowMs() - printedAtMs < LINE_EVERY_MS) return;
      printedAtMs = nowMs();
      err.write(`${Math.floor(done * 100)} %  ${what}\n`);
    },
    clear: () => undefined,
  };
};
