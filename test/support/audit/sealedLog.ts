// An event log with its audit log, sealed step by step by the sealer, without the rest of the gateway.
import { hash, type KeyObject } from 'node:crypto';
import type { ExportNeeds, ExportPeriod, Manifest } from '../../../application/audit/exportLog.ts';
import { exportLog } from '../../../application/audit/exportLog.ts';
import { Sealer } from '../../../application/audit/sealer.ts';
import { publicBytes } from '../../../application/audit/signedNote.ts';
import type { AuditKeys } from '../../../application/ports/auditKeys.ts';
import type { AuditTree } from '../../../application/ports/auditTree.ts';
import { EMPTY_STREAM, type EventStore } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { auditTree } from '../../../infrastructure/audit/auditTree.ts';
import { exportFolder } from '../../../infrastructure/audit/exportFolder.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';
import { type LogKey, ORIGIN } from './syntheticExport.ts';

/** The account of the events with an even number. The others belong to OTHER_ACCOUNT. */
export const ACCOUNT = 'a1'.repeat(13);
export const OTHER_ACCOUNT = 'b2'.repeat(13);
export const EVER: ExportPeriod = { from: null, to: null, account: null };
const NOT_ABORTED = new AbortController().signal;
/** Longer than the sealer waits between two checkpoints. */
const STEP_MS = 6_000;

export const rawIdOf = (text: string): string =>
  hash('sha256', text, 'hex')
    .replaceAll(/[^0-9]/g, '')
    .padEnd(26, '7')
    .slice(0, 26);

/** Keys that exist from the start and sign one after the other. */
const keysOf = (all: readonly LogKey[]): AuditKeys & { rotated: number } => ({
  rotated: 1,
  async list() {
    return all.slice(0, this.rotated).map(({ privateKey }, n) => ({
      id: n + 1,
      publicKey: publicBytes(privateKey),
      createdAt: '2026-11-01T00:00:00.000Z' as Timestamp,
    }));
  },
  async signer(): Promise<KeyObject> {
    return (all[this.rotated - 1] as LogKey).privateKey;
  },
  async rotate() {
    this.rotated++;
    return (await this.list()).at(-1) as Awaited<ReturnType<AuditKeys['rotate']>>;
  },
});

export class SealedLog {
  store: EventStore;
  readonly auditTree: AuditTree;
  readonly auditKeys: AuditKeys;
  readonly #pool: PgPool;
  #sealer: Sealer;
  #nowMs = 0;
  #payments = 0;

  constructor(connectionString: string, store: EventStore, keys: readonly LogKey[]) {
    this.store = store;
    this.#pool = new PgPool(connectionConfig(connectionString, 'test'), 2, () => undefined);
    this.auditTree = auditTree(this.#pool);
    this.auditKeys = keysOf(keys);
    this.#sealer = this.#newSealer();
  }

  #newSealer(): Sealer {
    return new Sealer({
      store: this.store,
      auditTree: this.auditTree,
      auditKeys: this.auditKeys,
      auditAlerts: { stopped: () => undefined, resumed: () => undefined },
      auditAnchors: { endOf: async () => null },
      auditSettings: { anchors: [] },
      auditOrigin: ORIGIN,
      stopwatch: { elapsedMs: () => this.#nowMs, pause: systemStopwatch.pause },
    });
  }

  /** Continues with a store whose cache is empty, like a new process. */
  reread(store: EventStore): void {
    this.#sealer.forget();
    this.store = store;
    this.#sealer = this.#newSealer();
  }

  /** Returns the size of the tree. */
  async size(): Promise<number> {
    return (await this.auditTree.find())?.size ?? 0;
  }

  get needs(): ExportNeeds & { readonly store: EventStore } {
    return { store: this.store, auditTree: this.auditTree, auditKeys: this.auditKeys };
  }

  /** Appends payments of `events` events each. With `hasDeliveries`, each payment also has a webhook delivery, which is not an entry. */
  async append(payments: number, events = 4, hasDeliveries = true): Promise<readonly StreamName[]> {
    const streams: StreamName[] = [];
    for (let n = 0; n < payments; n++) {
      const number = this.#payments++;
      const id = rawIdOf(`payment ${number}`);
      const account = number % 2 === 0 ? ACCOUNT : OTHER_ACCOUNT;
      streams.push(`payment-${id}` as StreamName);
      await this.#appendTo(`payment-${id}`, events, account);
      if (hasDeliveries) await this.#appendTo(`webhookDelivery-${id}`, 1, account);
    }
    return streams;
  }

  async #appendTo(stream: string, count: number, account: string): Promise<void> {
    const metadata = JSON.stringify({
      account,
      mode: 'live',
      actor: 'key:0123456789abcdef',
      $causationId: `req_${stream}`,
    });
    const events = Array.from({ length: count }, (_, n) => {
      const hex = hash('sha256', `${stream} ${n}`, 'hex');
      const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
      return {
        id,
        type: 'ChargeCreated',
        data: JSON.stringify({ number: n, text: 'Ação, “ok”', z: 1, a: 2 }),
        metadata,
      };
    });
    await this.store.append(stream as StreamName, EMPTY_STREAM, events);
  }

  /** Seals all entries, which must then number `size`, and keeps one new checkpoint. */
  async seal(size: number): Promise<void> {
    const before = (await this.auditTree.latest())?.size ?? 0;
    while ((await this.auditTree.latest())?.size !== size) {
      this.#nowMs += STEP_MS;
      await this.#sealer.seal();
      await systemStopwatch.pause(5);
    }
    await this.query('DELETE FROM audit.checkpoints WHERE size > $1 AND size < $2', [before, size]);
  }

  /** Writes an export. Throws if it is rejected. */
  async export(folder: string, period: ExportPeriod = EVER): Promise<Manifest> {
    const following = { signal: NOT_ABORTED, onEntries: () => undefined };
    const done = await exportLog(this.needs)(exportFolder(folder), period, following);
    if (!('format' in done)) throw new Error(done.message);
    return done;
  }

  async query(text: string, values: unknown[] = []): Promise<void> {
    await this.#pool.query(text, values);
  }

  async close(): Promise<void> {
    this.#sealer.forget();
    await this.#pool.close();
  }
}
