// An EventStoreDB for tests of the adapter, in memory: the protocol and the rules of a real server (23.10) as eventStoreDb/README.md
// tells them, with switches for its faults. It proves nothing about durability, quorum or speed: "restart" keeps an array.
// Positions of stream reads are given as servers since 22.6 do. Not modelled: persistent subscriptions, projections, links,
// $maxCount/$maxAge/$acl in stream metadata (a soft delete is state of its own).
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
  /** For `localhost` or 127.0.0.1. Default null: plain text, where the client keeps credentials to itself. */
  readonly tls?: Tls | null;
  /** By name. Default null: nobody is asked. */
  readonly users?: Users;
  /** How many events the memory behind `any` holds; default 160,000. */
  readonly anyCacheEvents?: number;
  /** When an append that is not committed is answered as timed out; default 2,000 ms. */
  readonly writeTimeoutMs?: number;
}

/** An event as a test wants to compare it. */
export interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** The server reads rights from the metadata of a stream; of all of them only this one is modelled. */
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

  /** With TLS, `&tlsCAFile=…` and `user:password@` are the test's to add. */
  get connectionString(): string {
    return `esdb://127.0.0.1:${this.port}?tls=${this.#tls !== null}`;
  }

  /** What clients have written, in log order, without system events. */
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

  /** All that the log holds, system events included. */
  get records(): readonly Omit<StoredEvent, 'id' | 'metadata'>[] {
    return this.#log.records.map(({ stream, revision, type, data }) => ({
      stream,
      revision: Number(revision),
      type,
      data: Buffer.from(data).toString('utf8'),
    }));
  }

  /** Connections of clients that are open. */
  get connections(): number {
    return this.#front.connections;
  }

  /** Subscriptions that are open. */
  get subscriptions(): number {
    return this.#subscriptions.count;
  }

  /** Append requests taken so far, repeats and refused ones included. */
  get appendsReceived(): number {
    return this.#desk.received;
  }

  /** Appends that are held. */
  get appendsHeld(): number {
    return this.#desk.held;
  }

  /** Resolves as soon as the condition on the properties above holds. */
  until(condition: (server: EventStoreDbServer) => boolean): Promise<void> {
    return this.#watch.until(() => condition(this));
  }

  /** What the server writes for itself now and then: `$statsCollected`. */
  writeSystemEvents(count: number): void {
    this.#log.appendSystemEvents(count);
  }

  /** What an operator has the server do now and then: the events of deleted streams go, of the first `records` of the log or of all. */
  scavenge(records?: number): void {
    this.#log.scavenge(records);
  }

  /** Destroys every connection; new ones are welcome at once. */
  cut(): void {
    this.#front.cut();
  }

  /** `kill -9`, or (graceful) as after the 5 s that a real server goes on serving. The data stays; held appends are lost. */
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

  /** On the same port, with the same data. Faults that are switched on stay on. */
  async restart(): Promise<void> {
    await this.stop();
    this.#grpc = new GrpcServer(this.#node, () => ({ host: '127.0.0.1', port: this.port }));
    await this.#front.open(await this.#grpc.listen(this.#tls));
  }

  /** Stops, puts a backup back that ends with the record at that position, and starts again. */
  async restore(position: Position): Promise<void> {
    await this.stop();
    this.#log.restore(BigInt(position.slice(0, position.indexOf('/'))));
    await this.restart();
  }

  /** Accepts and never answers, not even keep-alive pings. What has waited goes on when it is switched off. */
  silent(on: boolean): void {
    this.#front.freeze(on);
  }

  /** Every answer comes so late, though what it answers has happened at once. */
  delay(ms: number): void {
    this.#faults.delayMs = ms;
  }

  /** The next appends are written and never answered. */
  loseAnswers(count = 1): void {
    this.#faults.answersToLose = count;
  }

  /** The next batch appends are answered twice. */
  answerTwice(count = 1): void {
    this.#faults.answersToDouble = count;
  }

  /** The next appends are not written, which their answer does not tell. */
  failAppends(count = 1): void {
    this.#faults.appendsToFail = count;
  }

  /** Appends are taken and committed at `releaseAppends`: meanwhile they and repeats of their ids time out. */
  holdAppends(): void {
    this.#faults.holding = true;
  }

  /** Commits what is held, in order, and holds no more. */
  releaseAppends(): void {
    this.#faults.holding = false;
    this.#desk.release();
  }

  /** null: ready again. */
  busy(reason: Busy | null): void {
    this.#faults.busy = reason;
  }

  /** Every call on streams is sent to that leader, and gossip names it. null: this node leads. */
  notLeader(leader: Endpoint | null): void {
    this.#faults.leaderElsewhere = leader;
  }

  /** Its clock goes so far ahead of this machine's (or behind, below 0). */
  shiftClock(aheadMs: number): void {
    this.#faults.clockAheadMs = aheadMs;
  }

  /** Instead of 1 MiB. */
  limitAppends(bytes: number): void {
    this.#faults.appendBytesMax = bytes;
  }

  /** As servers from 24.10 on do; null: not judged. */
  limitEvents(bytes: number | null): void {
    this.#faults.eventBytesMax = bytes;
  }

  /** The next batch appends are written, and their stream ends like this instead of an answer. */
  endAppendStreams(how: StreamEnd, count = 1): void {
    this.#faults.streamEnd = STREAM_ENDS[how]({ host: '127.0.0.1', port: this.port });
    this.#faults.streamsToEnd = count;
  }

  /** As if the log had been put back and had grown since: no position that anybody knows is that of a record. */
  forgetPositions(on: boolean): void {
    this.#faults.positionsUnknown = on;
  }

  /** What it says that it is: `24.10.1`. */
  pretendToBe(version: string): void {
    this.#faults.version = version;
  }

  failServerFeatures(on: boolean): void {
    this.#faults.serverFeaturesFail = on;
  }

  /** Ends the subscriptions that are open: `tooSlow` as servers up to 23.10 end a slow one, `ok` as if they were finished. */
  endSubscriptions(how: 'tooSlow' | 'ok'): void {
    this.#subscriptions.endAll(() => (how === 'tooSlow' ? consumerTooSlow() : null));
  }
}
