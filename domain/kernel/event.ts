// Events and the names of their streams (architecture §4). A descriptor makes stream names and parses them (aggregate.ts).

/** An event. `type` is in the past tense and contains the aggregate's name. `data` is JSON-safe and must not be mutated. */
export interface Fact<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
}

declare const name: unique symbol;
/**
 * `<category>-<raw id>`, or `logConsumer-<name of a read model or process>`. The category contains no `-`, so the first `-` ends it
 * (EventStoreDB's rule).
 */
export type StreamName = string & { readonly [name]: true };
