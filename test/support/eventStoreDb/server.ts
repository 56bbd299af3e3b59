// An EventStoreDB in memory for tests of the adapter. It has the protocol and rules of a real server (23.10) as described in
// eventStoreDb/README.md, and switches for faults. It proves nothing about durability, quorum or speed: a restart keeps an array.
// Stream reads return positions, as in servers since 22.6. Not modeled: persistent subscriptions, projections, links, and
// $maxCount/$maxAge/$acl in stream metadata. A soft delete is separate state.
import type { Position } from '../../../application/ports/eventStore.ts';
import { Access, type Users } from './access.ts';
import { AppendDesk } from './appendDesk.ts';
import {
  accessDenied,
  badCredentials,
  consumerTooSlow,
  type Endpoint,
  maximumAppendSizeExceeded,
  notLeader,
  streamDeleted,
  unavailable,
} from './errors.ts';
import { type Busy, Faults, Watch } from './faults.ts';
import { Front } from './front.ts';
import { GrpcServer, type Tls } from './grpcServer.ts';
import { Log } from './log.ts';
import type { Node } from './node.ts';
import { OpenSubscriptions } from './openSubscriptions.ts';
import { isSystem } from './record.ts';

export type { User, Users } from './access.ts';

export interface EventStoreDbOptions {
  /** For `localhost` or 127.0.0.1. Default: null for plain text, over which the client sends no credentials. */
  readonly tls?: Tls | null;
  /** Users by name. Default: null, no authentication. */
  readonly users?: Users;
  /** Number of events in the cache behind `any`. Default: 160,000. */
  readonly anyCacheEvents?: number;
  /** Milliseconds until an uncommitted append is answered as timed out. Default: 2,000. */
  readonly writeTimeoutMs?: number;
}

/** An event in a form for comparisons. */
export interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** Returns the readers of $all, the only access right in stream metadata that is modeled. */
const readersOfAll = (log: Log): readonly string[] => {
  const last = log.records.findLast(({ stream }) => stream === '$$$all');
  if (last === undefined) return [];
  return (JSON.parse(Buffer.from(last.data).toString('utf8')) as { $acl: { $r: readonly string[] } }).$acl.$r;
};

const STREAM_ENDS = {
  ok: () => null,
  'not leader': notLeader,
  denied: accessDenied,
  'unknown user': badCredentials,
  invalid: () => maximumAppendSizeExceeded(1),
  deleted: () => streamDeleted('payment-1'),
  unavailable: () => unavailable('Server Is Not Ready'),
} as const;
type StreamEnd = keyof typeof STREAM_ENDS;

export class EventStoreDbServer {
  readonly #log: Log;
  readonly #tls: Tls | null;
  readonly #faults = new Faults();
  readonly #watch = new Watch();
  readonly #subscriptions = new OpenSubscriptions();
  readonly #desk: AppendDesk;
  readonly #node: Node;
  readonly #front = new Front(this.#watch.happened);
  #grpc: GrpcServer | null = null;

  private constructor({
    tls = null,
    users = null,
    anyCacheEvents = 160_000,
    writeTimeoutMs = 2_000,
  }: EventStoreDbOptions) {
    this.#tls = tls;
    this.#log = new Log(anyCacheEvents, this.#faults.now);
    this.#desk = new AppendDesk(this.#log, this.#faults, this.#watch, writeTimeoutMs);
    this.#node = {
      log: this.#log,
      faults: this.#faults,
      watch: this.#watch,
      access: new Access(users, () => readersOfAll(this.#log)),
      desk: this.#desk,
      subscriptions: this.#subscriptions,
    };
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(options: EventStoreDbOptions = {}): Promise<EventStoreDbServer> {
    const server = new EventStoreDbServer(options);
    await server.restart();
    return server;
  }

  get port(): number {
    return this.#front.port;
  }

  /** With TLS, the test adds `&tlsCAFile=…` and `user:password@`. */
  get connectionString(): string {
    return `esdb://127.0.0.1:${this.port}?tls=${this.#tls !== null}`;
  }

  /** Returns the events written by clients, in log order, without system events. */
  get events(): readonly StoredEvent[] {
    return this.#log.records
      .filter(({ stream, type }) => !isSystem(stream) && !isSystem(type))
      .map(({ id, stream, revision, type, data, metadata }) => ({
        id,
        stream,
        revision: Number(revision),
        type,
        data: Buffer.from(data).toString('utf8'),
        metadata: Buffer.from(metadata).toString('utf8'),
      }));
  }

  /** Returns all events in the log, including system events. */
  get records(): readonly Omit<StoredEvent, 'id' | 'metadata'>[] {
    return this.#log.records.map(({ stream, revision, type, data }) => ({
      stream,
      revision: Number(revision),
      type,
      data: Buffer.from(data).toString('utf8'),
    }));
  }

  /** Number of open client connections. */
  get connections(): number {
    return this.#front.connections;
  }

  /** Number of open subscriptions. */
  get subscriptions(): number {
    return this.#subscriptions.count;
  }

  /** Number of append requests so far, including repeats and rejected ones. */
  get appendsReceived(): number {
    return this.#desk.received;
  }

  /** Number of held appends. */
  get appendsHeld(): number {
    return this.#desk.held;
  }

  /** Resolves as soon as the condition on the properties above is true. */
  until(condition: (server: EventStoreDbServer) => boolean): Promise<void> {
    return this.#watch.until(() => condition(this));
  }

  /** Writes an event that servers write periodically: `$statsCollected`. */
  writeSystemEvents(count: number): void {
    this.#log.appendSystemEvents(count);
  }

  /** Scavenges: removes the events of deleted streams from the first `records` of the log, or from all. */
  scavenge(records?: number): void {
    this.#log.scavenge(records);
  }

  /** Destroys all connections. New ones are accepted at once. */
  cut(): void {
    this.#front.cut();
  }

  /**
   * Stops like `kill -9`, or gracefully, as after the 5 s during which a real server still serves. Data is kept, and held appends are
   * lost.
   */
  async stop({ graceful = false } = {}): Promise<void> {
    const grpc = this.#grpc;
    this.#grpc = null;
    const closed = this.#front.close();
    if (graceful) await grpc?.shutDownGracefully();
    this.#front.cut();
    grpc?.kill();
    await closed;
    await this.until(({ connections }) => connections === 0);
    this.#desk.drop();
    this.#log.forgetCaches();
  }

  /** Starts on the same port with the same data. Active faults stay on. */
  async restart(): Promise<void> {
    await this.stop();
    this.#grpc = new GrpcServer(this.#node, () => ({ host: '127.0.0.1', port: this.port }));
    await this.#front.open(await this.#grpc.listen(this.#tls));
  }

  /** Stops, restores a backup that ends with the record at that position, and starts again. */
  async restore(position: Position): Promise<void> {
    await this.stop();
    this.#log.restore(BigInt(position.slice(0, position.indexOf('/'))));
    await this.restart();
  }

  /** Accepts connections and never answers, not even keep-alive pings. When switched off, waiting data continues. */
  silent(on: boolean): void {
    this.#front.freeze(on);
  }

  /** Delays every answer. The operation itself happens at once. */
  delay(ms: number): void {
    this.#faults.delayMs = ms;
  }

  /** Writes the next appends and never answers them. */
  loseAnswers(count = 1): void {
    this.#faults.answersToLose = count;
  }

  /** Answers the next batch appends twice. */
  answerTwice(count = 1): void {
    this.#faults.answersToDouble = count;
  }

  /** Doesn’t write the next appends, and answers them with an unknown outcome. */
  failAppends(count = 1): void {
    this.#faults.appendsToFail = count;
  }

  /** Holds appends until `releaseAppends` commits them. Until then, they and repeats of their ids time out. */
  holdAppends(): void {
    this.#faults.holding = true;
  }

  /** Commits held appends in order, and stops holding. */
  releaseAppends(): void {
    this.#faults.holding = false;
    this.#desk.release();
  }

  /** Makes the server busy for this reason, or ready again if null. */
  busy(reason: Busy | null): void {
    this.#faults.busy = reason;
  }

  /** Redirects all stream calls to this leader, and names it in gossip. If null, this node leads. */
  notLeader(leader: Endpoint | null): void {
    this.#faults.leaderElsewhere = leader;
  }

  /** Sets the server's clock ahead of this machine's, or behind if negative. */
  shiftClock(aheadMs: number): void {
    this.#faults.clockAheadMs = aheadMs;
  }

  /** Replaces the default limit of 1 MiB. */
  limitAppends(bytes: number): void {
    this.#faults.appendBytesMax = bytes;
  }

  /** Sets a limit as in servers from 24.10 on. Null for no limit. */
  limitEvents(bytes: number | null): void {
    this.#faults.eventBytesMax = bytes;
  }

  /** Writes the next batch appends, and ends their stream this way instead of answering. */
  endAppendStreams(how: StreamEnd, count = 1): void {
    this.#faults.streamEnd = STREAM_ENDS[how]({ host: '127.0.0.1', port: this.port });
    this.#faults.streamsToEnd = count;
  }

  /** Invalidates all known positions, as after a backup was restored and newer records were appended. */
  forgetPositions(on: boolean): void {
    this.#faults.positionsUnknown = on;
  }

  /** Sets the reported version, such as `24.10.1`. */
  pretendToBe(version: string): void {
    this.#faults.version = version;
  }

  failServerFeatures(on: boolean): void {
    this.#faults.serverFeaturesFail = on;
  }

  /** Ends the open subscriptions: `tooSlow` as servers up to 23.10 end slow ones, `ok` as if they were finished. */
  endSubscriptions(how: 'tooSlow' | 'ok'): void {
    this.#subscriptions.endAll(() => (how === 'tooSlow' ? consumerTooSlow() : null));
  }
}
