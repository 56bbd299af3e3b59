// Distinguishes a silent connection from a slow statement. A connection can fall silent without FIN or RST: a failed host, a NAT that
// forgot it, a proxy that keeps answering TCP keepalive. If a connection owes an answer and delivers no byte, a new connection asks the
// server about it. While its server process is working, the statement may take as long as it needs. Otherwise the question or the
// answer is lost: the socket is cut, the server process is terminated (it may hold locks), and idle pool connections are cut as well.
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import { whenLate } from '../waiting.ts';

export interface WatchTimings {
  /** Interval of the checks. Held sessions send an empty statement every other check. */
  readonly lookMs: number;
  /** Number of checks without a byte after which the server is asked about a connection that owes an answer. */
  readonly quietLooks: number;
  /** Timeout for connecting, and for each answer, when the server is asked. */
  readonly askMs: number;
}

/** Silence is detected within 2.5 to 3 s. The connection is cut within 4 s, or 5.5 s if the server accepts no new connections. */
export const WATCH_TIMINGS: WatchTimings = { lookMs: 500, quietLooks: 5, askMs: 2_000 };

/** A statement rejects with this if its connection fell silent: a lost connection (SQLSTATE class 08) with an unknown outcome. */
export class ConnectionSilent extends Error {
  override name = 'ConnectionSilent';
  readonly code = '08006';

  constructor(message = 'the database stopped answering: the connection was closed', options?: ErrorOptions) {
    super(message, options);
  }
}

/** Parts of pg's client that its types omit. */
interface Inside {
  readonly connection: { readonly stream: Pick<Socket, 'bytesRead' | 'destroy' | 'cork' | 'uncork'> };
  /** Id of the server process; null before it is known. */
  readonly processID: number | null;
  /** Undefined until the session is open. */
  readonly readyForQuery?: boolean;
}
const inside = (client: pg.ClientBase): Inside => client as unknown as Inside;

/** Cuts the socket at once, whatever is in flight. */
export const cutSession = (client: pg.ClientBase, reason?: Error): void => {
  inside(client).connection.stream.destroy(reason);
};

/** Holds back the client's writes until the returned function is called. */
export const holdBack = (client: pg.ClientBase): (() => void) => {
  const { stream } = inside(client).connection;
  stream.cork();
  return () => stream.uncork();
};

export const processIdOf = (client: pg.ClientBase): number | null => inside(client).processID;

/** Whether the connection owes an answer. */
export const isAsked = (client: pg.ClientBase): boolean => inside(client).readyForQuery === false;

/** How long a server may take to close connections before their sockets are cut. */
export const GOODBYE_MS_MAX = 1_000;

/** Closes the connection, and cuts the socket if the server does not answer within a second. Never rejects. */
export const endSession = async (client: pg.Client): Promise<void> => {
  const ended = client.end().catch(() => undefined);
  await whenLate(ended, GOODBYE_MS_MAX, () => cutSession(client));
};

/** Waiting for the client does not count as work: part of the question is missing, or the answer can't be sent. */
const AT_WORK = `state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'`;
const WHO_WORKS = `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[]) AND ${AT_WORK}`;
const END = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = ANY($1::int[]) AND usename = current_user AND datname = current_database() AND NOT (${AT_WORK})`;

interface Watched {
  readonly client: pg.ClientBase;
  bytesRead: number;
  quietLooks: number;
}

const clientsOf = (watched: readonly Watched[]): pg.ClientBase[] => watched.map(({ client }) => client);

/** Whether the server answered but has no free connection or time: then nothing is known about the suspect connection. */
const isAnswer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !(error.code ?? '').startsWith('57P');

export class SessionWatch {
  readonly timings: WatchTimings;
  readonly #config: pg.ClientConfig;
  readonly #sessions = new Set<Watched>();
  readonly #spares = new Set<() => Iterable<pg.ClientBase>>();
  #looking: Repeating | null = null;
  #examining: Promise<void> | null = null;

  /** `config` is for the connections that ask the server. */
  constructor(config: pg.ClientConfig, timings: WatchTimings = WATCH_TIMINGS) {
    this.#config = config;
    this.timings = timings;
  }

  /** Watches a client until it ends. Call it before the client connects, so that the first statement is watched too. */
  add(client: pg.ClientBase): void {
    const watched = { client, bytesRead: 0, quietLooks: 0 };
    this.#sessions.add(watched);
    (client as pg.Client).once('end', () => {
      this.#sessions.delete(watched);
      if (this.#sessions.size > 0) return;
      void this.#looking?.stop();
      this.#looking = null;
    });
    this.#looking ??= repeating(this.timings.lookMs, () => this.#look());
  }

  /** `spares` returns idle connections that are cut when another connection is found silent. Returns a function that removes it. */
  onSilence(spares: () => Iterable<pg.ClientBase>): () => void {
    const own = (): Iterable<pg.ClientBase> => spares();
    this.#spares.add(own);
    return () => void this.#spares.delete(own);
  }

  /** Counts checks instead of time, because a process that was itself frozen has not waited. */
  #look(): void {
    for (const watched of this.#sessions) {
      const { bytesRead } = inside(watched.client).connection.stream;
      const isQuiet = isAsked(watched.client) && bytesRead === watched.bytesRead;
      watched.quietLooks = isQuiet ? watched.quietLooks + 1 : 0;
      watched.bytesRead = bytesRead;
    }
    if ([...this.#sessions].some(({ quietLooks }) => quietLooks >= this.timings.quietLooks))
      this.#examining ??= this.#examine().finally(() => {
        this.#examining = null;
      });
  }

  /** Never rejects. */
  async #examine(): Promise<void> {
    const { quietLooks, lookMs } = this.timings;
    const quiet = [...this.#sessions].filter((watched) => watched.quietLooks > 0);
    const asking = new pg.Client({ ...this.#config, connectionTimeoutMillis: this.timings.askMs });
    asking.on('error', () => undefined);
    let silent = quiet.filter((watched) => watched.quietLooks >= quietLooks);
    try {
      await asking.connect();
      const working = new Set(
        (await this.#answer<{ pid: number }>(asking, WHO_WORKS, clientsOf(quiet))).map(({ pid }) => Number(pid)),
      );
      for (const watched of quiet) if (working.has(processIdOf(watched.client) ?? -1)) watched.quietLooks = 0;
      silent = quiet.filter(({ quietLooks: looks }) => looks > 0);
      if (silent.length === 0) return;
      await pause(lookMs); // an answer may be on its way
      await this.#answer(asking, END, this.#cut(silent));
    } catch (error) {
      if (isAnswer(error)) for (const watched of quiet) watched.quietLooks = 0;
      this.#cut(silent);
    } finally {
      cutSession(asking);
    }
  }

  async #answer<Row extends pg.QueryResultRow>(
    asking: pg.Client,
    text: string,
    about: readonly pg.ClientBase[],
  ): Promise<readonly Row[]> {
    const pids = about.flatMap((client) => processIdOf(client) ?? []);
    return (await whenLate(asking.query<Row>(text, [pids]), this.timings.askMs, () => cutSession(asking))).rows;
  }

  /** Cuts the connections that are still silent, and the spare ones. Returns the connections that were cut. */
  #cut(suspects: readonly Watched[]): readonly pg.ClientBase[] {
    const silent = clientsOf(suspects.filter(({ quietLooks }) => quietLooks > 0));
    if (silent.length === 0) return [];
    // The spare ones first, so that a caller that retries after a loss does not get another silent connection.
    const lost = [...[...this.#spares].flatMap((spares) => [...spares()]), ...silent];
    for (const client of lost) cutSession(client, new ConnectionSilent());
    return lost;
  }
}
