// EventStoreDB's own tools index events by `$correlationId` and `$causationId`. The codec leaves out an id that follows from the rest. This
// adapter adds such an id when it appends and removes it when it reads. So readers get the appended text, byte for byte, from both stores.
import { readStreamName } from '../../../domain/kernel/aggregate.ts';

/** Encloses the added ids. Inside a JSON string a tab is always escaped. */
const MARK = '\t';
const BEGIN = `{${MARK}`;

interface Causality {
  readonly $correlationId?: unknown;
  readonly $causationId?: unknown;
}

/** Parses only if one of the names occurs: a codec that leaves both out, as most events do, costs a search. */
const causalityOf = (metadata: string): Causality =>
  metadata.includes('"$c') ? (JSON.parse(metadata) as Causality) : {};

/** Returns the metadata with both ids. The correlation id defaults to the stream's subject, the causation id to the correlation id. */
export const withCausality = (metadata: string, stream: string): string => {
  const { $correlationId, $causationId } = causalityOf(metadata);
  const correlation = $correlationId ?? readStreamName(stream).id;
  const added = [
    ...($correlationId === undefined ? [`"$correlationId":${JSON.stringify(correlation)}`] : []),
    ...($causationId === undefined ? [`"$causationId":${JSON.stringify(correlation)}`] : []),
  ];
  if (added.length === 0 && !metadata.startsWith(BEGIN)) return metadata;
  const rest = metadata.slice(1);
  const comma = added.length === 0 || rest.trim() === '}' ? '' : ',';
  return `${BEGIN}${added.join(',')}${MARK}${comma}${rest}`;
};

/** Returns the metadata as it was appended. */
export const withoutCausality = (metadata: string): string => {
  if (!metadata.startsWith(BEGIN)) return metadata;
  const end = metadata.indexOf(MARK, BEGIN.length);
  const rest = metadata.slice(end + 1);
  return `{${rest.startsWith(',') ? rest.slice(1) : rest}`;
};
