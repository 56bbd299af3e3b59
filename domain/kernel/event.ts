// Events, and the names of the streams that hold them (architecture §4). A descriptor makes the names of its streams (aggregate.ts).

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

export const readStreamName = (stream: string): { category: string; id: string } => {
  const dash = stream.indexOf('-');
  return dash < 0 ? { category: stream, id: '' } : { category: stream.slice(0, dash), id: stream.slice(dash + 1) };
};
