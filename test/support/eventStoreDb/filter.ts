// The filter of a subscription to $all.
import type { ReadReq } from './messages.ts';
import type { LogRecord } from './record.ts';

type Options = NonNullable<ReturnType<ReadReq['getOptions']>>;
type FilterOptions = NonNullable<ReturnType<Options['getFilter']>>;

export interface Filter {
  readonly matches: (record: LogRecord) => boolean;
  /** Number of records scanned between two checkpoints. */
  readonly checkpointEvery: number;
}

/** Unit of the checkpoint interval if the client sets no search window. */
const WINDOW_DEFAULT = 32;

export const filterOf = (options: FilterOptions): Filter => {
  const byStream = options.getStreamIdentifier();
  const expression = byStream ?? options.getEventType()!;
  const prefixes = expression.getPrefixList();
  const regex = new RegExp(expression.getRegex());
  const window = options.hasMax() ? options.getMax() : WINDOW_DEFAULT;
  return {
    matches: ({ stream, type }) => {
      const text = byStream === undefined ? type : stream;
      return prefixes.length > 0 ? prefixes.some((prefix) => text.startsWith(prefix)) : regex.test(text);
    },
    checkpointEvery: window * options.getCheckpointintervalmultiplier(),
  };
};
