// What an aggregate is: declared once, in the folder of its events (architecture §2). All that depends on there being such an aggregate is
// derived from the list of descriptors (domain/aggregates.ts).
import type { Decider } from './decider.ts';
import type { Fact, StreamName } from './event.ts';
import type { Groups, Partition } from './eventGroups.ts';
import { isRawId } from './ids.ts';
import type { Postings } from './journal.ts';
import type { Publisher } from './publisher.ts';
import type { ErrorEntry } from './rejection.ts';
import type { Serde } from './serde.ts';

/** What commands and read models need of an aggregate, whichever it is. */
export interface Aggregate<State, Event extends Fact<string, unknown>> {
  /** What its streams' names begin with. It has no `-` in it. */
  readonly category: string;
  readonly serde: Serde<Event>;
  readonly decider: Decider<State, Event>;
}

/** Any aggregate, as the ledger and webhooks take it. */
export interface AnyAggregate extends Aggregate<unknown, Fact<string, unknown>> {
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
  /** What its ids begin with where the outside sees them; null: it sees none. */
  readonly idPrefix: Prefix;
  readonly groups: Partition<Event, G>;
  /** What its events post to the ledger. Default: they move no money. */
  readonly postings?: Postings<Event>;
  /** Which messages its events publish. Default: none. */
  readonly publisher?: Publisher<State, Event>;
  /** The error codes that belong to it. Default: none. */
  readonly errors?: { readonly [C in Code]: ErrorEntry };
  /** Whether its streams may be deleted as a whole (ADR 0008). Default: facts are never deleted. */
  readonly isDeletable?: true;
  /** Whether its events are so few among all that they have an index of their own. Default: they are found by reading on. */
  readonly isRare?: true;
  /** Whether the text can be the second half of such a stream's name. Default: it can if it is a raw id. */
  readonly isSubject?: (text: string) => boolean;
}

type Defaulted = 'postings' | 'publisher' | 'isDeletable' | 'isRare' | 'isSubject';
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
