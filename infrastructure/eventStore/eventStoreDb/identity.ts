// Who a log is: an event in a stream of the adapter's own, whose category no stream of the domain can have. Written once by whoever
// comes first; it lives and dies with the log, so that a checkpoint of another log is recognised.
import { randomUUID } from 'node:crypto';
import { AppendOutcomeUnknown, EMPTY_STREAM, EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import type { Appender } from './appender.ts';
import type { Reader } from './reader.ts';

export const IDENTITY_STREAM = 'quita_store-identity';
const TRIES = 3;

/** Throws EventStoreUnavailable. */
export const identityOf = async (reader: Reader, appender: Appender): Promise<string> => {
  const data = JSON.stringify({ storeId: randomUUID() });
  const event = { id: randomUUID(), type: 'StoreIdentified', data, metadata: '{}' };
  const sizes = { dataBytes: Buffer.byteLength(data), metadataBytes: 2 };
  for (let n = 0; n < TRIES; n++) {
    const [first] = await reader.pageSoon(IDENTITY_STREAM, 0, 1);
    if (first !== undefined) return (JSON.parse(first.data) as { storeId: string }).storeId;
    try {
      await appender.append({ stream: IDENTITY_STREAM, expected: EMPTY_STREAM, events: [event], ...sizes });
    } catch (error) {
      if (!(error instanceof AppendOutcomeUnknown)) throw error;
    }
  }
  throw new EventStoreUnavailable('the identity of the log could not be written');
};
