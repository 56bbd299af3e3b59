// Events, and the names of the streams that hold them (architecture §4). A descriptor makes the names of its streams, and they are read
// beside it (aggregate.ts).

/** A fact. `type` is past tense with the aggregate in its name; `data` is JSON-safe and frozen by convention. */
export interface Fact<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
}

declare const name: unique symbol;
/**
 * `<category>-<raw id>`, or `logConsumer-<name of a read model or process>`. The category has no `-` in it, so that the first one ends it
 * (EventStoreDB's rule).
 */
export type StreamName = string & { readonly [name]: true };
