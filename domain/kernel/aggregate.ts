// What an aggregate is: declared once, in the folder of its events (architecture §2). All that depends on there being such an aggregate is
// derived from the list of descriptors (domain/aggregates.ts).
import type { Decider } from './decider.ts';
import type { Fact, StreamName } from './event.ts';
import { isRawId } from './ids.ts';
import type { ErrorEntry } from './rejection.ts';
import type { Serde } from './serde.ts';

/** What commands and read models need of an aggregate, whichever it is. */
export interface Aggregate<State, Event extends Fact<string, unknown>> {
  /** What its streams' names begin with. It has no `-` in it. */
  readonly category: string;
  readonly serde: Serde<Event>;
  readonly decider: Decider<State, Event>;
}

interface Description<
  Category extends string,
  Prefix extends string | null,
  State,
  Event extends Fact<string, unknown>,
  Code extends string,
> extends Aggregate<State, Event> {
  readonly category: Category;
  /** What its ids begin with where the outside sees them; null: it sees none. */
  readonly idPrefix: Prefix;
  /** The error codes that belong to it. Default: none. */
  readonly errors?: { readonly [C in Code]: ErrorEntry };
  /** Whether its streams may be deleted as a whole (ADR 0008). Default: facts are never deleted. */
  readonly isDeletable?: true;
  /** Whether its events are so few among all that they have an index of their own. Default: they are found by reading on. */
  readonly isRare?: true;
  /** Whether the text can be the second half of such a stream's name. Default: it can if it is a raw id. */
  readonly isSubject?: (text: string) => boolean;
}

interface AggregateDescriptor<
  Category extends string,
  Prefix extends string | null,
  Id extends string,
  State,
  Event extends Fact<string, unknown>,
  Code extends string,
> extends Required<Omit<Description<Category, Prefix, State, Event, Code>, 'isDeletable' | 'isRare' | 'errors'>> {
  readonly errors?: { readonly [C in Code]: ErrorEntry };
  readonly isDeletable: boolean;
  readonly isRare: boolean;
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
    Code extends string = never,
  >(
    description: Description<Category, Prefix, State, Event, Code>,
  ): AggregateDescriptor<Category, Prefix, Id, State, Event, Code> => {
    const start = `${description.category}-`;
    return {
      isDeletable: false,
      isRare: false,
      isSubject: isRawId,
      ...description,
      stream: (id) => (start + id) as StreamName,
    };
  };
