// The descriptor of an aggregate, declared once in the folder of its events (architecture §2). Everything that depends on the set of
// aggregates derives from the list of descriptors (domain/aggregates.ts).
import type { Decider, Fact } from './decider.ts';
import type { Groups, Partition } from './eventGroups.ts';
import { isRawId, type StreamName } from './ids.ts';
import type { Postings } from './journal.ts';
import type { Publisher } from './publisher.ts';
import type { ErrorEntry } from './rejection.ts';
import type { Serde } from './serde.ts';

/** The part of a descriptor that commands and read models use, independent of the kind of aggregate. */
export interface Aggregate<State, Event extends Fact<string, unknown>> {
  /** First part of its stream names. Contains no `-`. */
  readonly category: string;
  readonly serde: Serde<Event>;
  readonly decider: Decider<State, Event>;
  /**
   * Number of events after which a stream rejects those requests of merchants that could be repeated for ever. Every cold read of the
   * stream takes time in proportion to its events. Absent: its decisions bound it themselves.
   */
  readonly changesMax?: number;
}

/** Any aggregate, for the ledger and webhooks. */
export interface AnyAggregate extends Aggregate<unknown, Fact<string, unknown>> {
  readonly isSealed: boolean;
  readonly postings: Postings<Fact<string, unknown>> | null;
  readonly publisher: Publisher<unknown, Fact<string, unknown>> | null;
}

interface Description<
  Category extends string,
  Prefix extends string | null,
  State,
  Event extends Fact<string, unknown>,
  G extends Groups,
  Code extends string,
> extends Aggregate<State, Event> {
  readonly category: Category;
  /** Prefix of its public ids; null if its ids are not public. */
  readonly idPrefix: Prefix;
  readonly groups: Partition<Event, G>;
  /** Postings of its events to the ledger. Default: none. */
  readonly postings?: Postings<Event>;
  /** Messages that its events publish. Default: none. */
  readonly publisher?: Publisher<State, Event>;
  /** Error codes of the aggregate. Default: none. */
  readonly errors?: { readonly [C in Code]: ErrorEntry };
  /** Whether its streams may be deleted as a whole (ADR 0008). Default: no, events are never deleted. */
  readonly isDeletable?: true;
  /** Whether its personal fields are payers' data, which is sealed and can be erased (ADR 0017). Default: no, it is a merchant's own. */
  readonly isSealed?: true;
  /** Whether its events are rare enough to have their own index. Default: no, readers find them by scanning. */
  readonly isRare?: true;
  /** Returns whether the text is a valid id part of a stream name. Default: raw ids are. */
  readonly isSubject?: (text: string) => boolean;
}

type Defaulted = 'postings' | 'publisher' | 'isDeletable' | 'isSealed' | 'isRare' | 'isSubject';
interface AggregateDescriptor<
  Category extends string,
  Prefix extends string | null,
  Id extends string,
  State,
  Event extends Fact<string, unknown>,
  G extends Groups,
  Code extends string,
> extends Omit<Description<Category, Prefix, State, Event, G, Code>, Defaulted> {
  readonly postings: Postings<Event> | null;
  readonly publisher: Publisher<State, Event> | null;
  readonly isDeletable: boolean;
  readonly isSealed: boolean;
  readonly isRare: boolean;
  readonly isSubject: (text: string) => boolean;
  /** Returns the name of the stream, `<category>-<id>`. */
  readonly stream: (id: Id) => StreamName;
}

/** Returns the descriptor of an aggregate whose streams are named by ids of this brand: `aggregate<RefundId>()({…})`. */
export const aggregate =
  <Id extends string>() =>
  <
    const Category extends string,
    const Prefix extends string | null,
    State,
    Event extends Fact<string, unknown>,
    G extends Groups,
    Code extends string = never,
  >(
    description: Description<Category, Prefix, State, Event, G, Code>,
  ): AggregateDescriptor<Category, Prefix, Id, State, Event, G, Code> => {
    const start = `${description.category}-`;
    return {
      postings: null,
      publisher: null,
      isDeletable: false,
      isSealed: false,
      isRare: false,
      isSubject: isRawId,
      ...description,
      stream: (id) => (start + id) as StreamName,
    };
  };

/** Returns the parts of a stream's name. */
export const readStreamName = (stream: string): { category: string; id: string } => {
  const dash = stream.indexOf('-');
  return dash < 0 ? { category: stream, id: '' } : { category: stream.slice(0, dash), id: stream.slice(dash + 1) };
};
