// Converts the client's messages to input for the log.
import { type shared, streamName, uuidText } from './messages.ts';
import type { Expected, ProposedEvent } from './record.ts';

interface ProposedMessage {
  getId(): InstanceType<typeof shared.UUID> | undefined;
  getMetadataMap(): { get(key: string): string | undefined };
  getData_asU8(): Uint8Array;
  getCustomMetadata_asU8(): Uint8Array;
}

/** Throws if an id is not a UUID or an event has no type. */
export const proposedEvent = (message: ProposedMessage): ProposedEvent => {
  const type = message.getMetadataMap().get('type') ?? '';
  if (type === '') throw new Error("Argument 'eventType' should not be null or empty. (Parameter 'eventType')");
  return {
    id: uuidText(message.getId()),
    type,
    contentType: message.getMetadataMap().get('content-type') ?? 'application/octet-stream',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
};

export const bytesOf = (events: readonly ProposedEvent[]): number =>
  events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);

interface StreamOptions {
  getStreamIdentifier(): InstanceType<typeof shared.StreamIdentifier> | undefined;
  hasNoStream(): boolean;
  hasAny(): boolean;
  hasStreamExists(): boolean;
}

/** `revision` is the expected number if the message has none of the three keywords. */
export const target = (options: StreamOptions, revision: string): { stream: string; expected: Expected } => ({
  stream: streamName(options.getStreamIdentifier()),
  expected: options.hasNoStream()
    ? 'noStream'
    : options.hasAny()
      ? 'any'
      : options.hasStreamExists()
        ? 'streamExists'
        : BigInt(revision),
});
