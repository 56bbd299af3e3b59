// Deletes deliveries from the log (ADR 0008). Their streams get a tombstone, which prevents later writes and outlives the events. Until a
// scavenge, the server still returns a deleted stream's events to subscribers. So the log also holds the day before which streams were
// deleted, and for older deliveries every subscription checks that their stream still exists.

import { setTimeout as pause } from 'node:timers/promises';
import type { EndedDelivery } from '../../../application/ports/deliveryRetention.ts';
import { EventStoreUnavailable, type RecordedEvent } from '../../../application/ports/eventStore.ts';
import { isDeletable } from '../../../domain/aggregates.ts';
import type { DeliveryId, StreamName } from '../../../domain/kernel/ids.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import type { Appender } from './appender.ts';
import { type Connector, ReplaceableConnection } from './connection.ts';
import { translated } from './failures.ts';
import { tombstoneRequest } from './messages.ts';
import { OWN_CATEGORY, ownAppend } from './ownStreams.ts';
import { CallConnection, type Reader } from './reader.ts';
import type { Timings } from './settings.ts';

const RETENTION_STREAM = `${OWN_CATEGORY}-retention`;
const PAGE_EVENTS = 100;
/** Concurrent reads that check which streams still exist. */
const LOOKS_AT_ONCE = 32;
const TRIES = 3;

interface DeletionOptions {
  readonly connector: Connector;
  readonly reader: Reader;
  readonly appender: Appender;
  readonly timings: Timings;
}

export class Deletion {
  readonly #options: DeletionOptions;
  readonly #connections: ReplaceableConnection<CallConnection>;
  /** The last known day (yyyy-mm-dd, UTC; '' before any), and the revision of its event. */
  #known = { before: '', revision: -1 };

  constructor(options: DeletionOptions) {
    this.#options = options;
    const { connector, timings } = options;
    this.#connections = new ReplaceableConnection(
      async () => new CallConnection(await connector.connect(timings.connectMs)),
    );
  }

  /** Returns the deliveries whose streams are deleted now. Throws EventStoreUnavailable if that is unknown for some; a repeat is safe. */
  async delete(ended: readonly EndedDelivery[], recordedBefore: string): Promise<ReadonlySet<DeliveryId>> {
    await this.#announce(recordedBefore);
    const gone = await Promise.all(ended.map(async (one) => ((await this.#tombstone(one)) ? [one.id] : [])));
    return new Set(gone.flat());
  }

  /** Returns the events without those of deleted streams. `before` is the result of `deletedBefore`. */
  async withoutDeleted(events: readonly RecordedEvent[], before: string): Promise<readonly RecordedEvent[]> {
    const old = new Set<StreamName>();
    for (const { stream, recordedAt } of events) if (recordedAt < before && isDeletable(stream)) old.add(stream);
    if (old.size === 0) return events;
    const deleted = new Set<StreamName>();
    const streams = [...old];
    for (let at = 0; at < streams.length; at += LOOKS_AT_ONCE)
      await Promise.all(
        streams.slice(at, at + LOOKS_AT_ONCE).map(async (stream) => {
          if ((await this.#options.reader.pageSoon(stream, 0, 1)).length === 0) deleted.add(stream);
        }),
      );
    return deleted.size === 0 ? events : events.filter(({ stream }) => !deleted.has(stream));
  }

  /** Returns the day (yyyy-mm-dd, UTC) before which all deleted events were recorded, or '' if none was deleted. */
  async deletedBefore(): Promise<string> {
    for (;;) {
      const page = await this.#options.reader.pageSoon(RETENTION_STREAM, this.#known.revision + 1, PAGE_EVENTS);
      const last = page.at(-1);
      if (last !== undefined && last.revision > this.#known.revision)
        this.#known = { before: (JSON.parse(last.data) as { before: string }).before, revision: last.revision };
      if (page.length < PAGE_EVENTS) return this.#known.before;
    }
  }

  /** Forgets the known day after a restore, so that it is read again. */
  forget(): void {
    this.#known = { before: '', revision: -1 };
  }

  close(): void {
    this.#connections.close();
  }

  /** Writes the day before anything is deleted, so that every later subscription checks older deliveries. */
  async #announce(before: string): Promise<void> {
    for (let tries = 0; (await this.deletedBefore()) < before; tries++) {
      if (tries === TRIES) throw new EventStoreUnavailable('the date of the deletion could not be written');
      const { revision } = this.#known;
      await this.#options.appender.append(ownAppend(RETENTION_STREAM, revision, 'DeliveriesDeletedBefore', { before }));
    }
  }

  /** Returns whether the stream is deleted now; false if its last event has another revision. */
  async #tombstone({ id, revision }: EndedDelivery): Promise<boolean> {
    const { timings } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const failure = await this.#try(WEBHOOK_DELIVERY.stream(id), revision);
      if (failure === null || failure.kind === 'streamDeleted') return true;
      if (failure.kind === 'wrongRevision') return false;
      if (failure.kind === 'refused' || failure.kind === 'invalid' || attempt === TRIES)
        throw new EventStoreUnavailable(`a delivery could not be deleted: ${failure.message}`, { cause: failure });
      await pause(timings.backoffMs(attempt));
    }
  }

  async #try(stream: StreamName, revision: number) {
    const { connector, timings } = this.#options;
    const shared = await this.#connections.get();
    try {
      await shared.run(
        ({ stub, metadata }) =>
          new Promise<void>((resolve, reject) => {
            const headers = metadata({ requiresLeader: true });
            const deadline = Date.now() + timings.attemptMs;
            stub.tombstone(tombstoneRequest(stream, revision), headers, { deadline }, (error) =>
              error === null ? resolve() : reject(error),
            );
          }),
      );
      return null;
    } catch (error) {
      const failure = translated(error, true);
      if (failure.kind === 'streamDeleted' || failure.kind === 'wrongRevision') return failure;
      this.#connections.replace(shared);
      if (failure.leader !== null) connector.redirect(failure.leader);
      return failure;
    }
  }
}
