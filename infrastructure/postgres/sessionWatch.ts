// Tells a silent connection from a slow statement (no FIN, no RST: a failed host, a NAT that forgot, a proxy that goes on answering
// TCP keepalive). A connection that owes an answer and gives no byte is asked about over a new one: while its server process is at
// work it may take as long as its statement takes; otherwise its answer or its question is lost. Then the socket is cut, the server
// process behind it is ended (it may hold locks), and whoever keeps spare connections cuts them too: they went the same way.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import { whenLate } from '../waiting.ts';

export interface WatchTimings {
  /** How often the connections are looked at. A beat of those that are idle by nature comes every other look. */
  readonly lookMs: number;
  /** Looks without a byte after which a connection that owes an answer is asked about. */
  readonly quietLooks: number;
  /** For connecting, and for each answer, when it is asked about. */
  readonly askMs: number;
}

/** Silence is found within 2.5 to 3 s, cut within 4, and within 5.5 when nobody answers new connections either. */
export const WATCH_TIMINGS: WatchTimings = { lookMs: 500, quietLooks: 5, askMs: 2_000 };

/** What a statement rejects with whose connection fell silent: a lost connection (SQLSTATE class 08), its outcome unknown. */
export class ConnectionSilent extends Error {
  override name = 'ConnectionSilent';
  readonly code = '08006';

  constructor(message = 'the database fell silent: the connection was given up', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The parts of pg's client that it has no names for. */
interface Inside {
  readonly connection: { readonly stream: { readonly bytesRead: number; destroy(reason?: Error): void } };
  /** Of the server's process; null before it is known. */
  readonly processID: number | null;
  /** Undefined until the session is open. */
  readonly readyForQuery?: boolean;
}
const inside = (client: pg.ClientBase): Inside => client as unknown as Inside;

/** Cuts the socket at once, whatever is in flight. */
export const cutSession = (client: pg.ClientBase, reason?: Error): void => {
  inside(client).connection.stream.destroy(reason);
};

export const processIdOf = (client: pg.ClientBase): number | null => inside(client).processID;

/** Whether it owes an answer. */
export const isAsked = (client: pg.ClientBase): boolean => inside(client).readyForQuery === false;

const GOODBYE_MS_MAX = 1_000;

/** Says goodbye, and cuts the socket when the server does not answer within a second. Never rejects. */
export const endSession = async (client: pg.Client): Promise<void> => {
  const ended = client.end().catch(() => undefined);
  await whenLate(ended, GOODBYE_MS_MAX, () => cutSession(client));
};

/** Waiting for the client is not work: half of the question never came, or the answer does not go out. */
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

/** The server is there and has no place or no time for us: nothing is known of the connection that was asked about. */
const isAnswer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !(error.code ?? '').startsWith('57P');

export class SessionWatch {
  readonly timings: WatchTimings;
  readonly #config: pg.ClientConfig;
  readonly #sessions = new Set<Watched>();
  readonly #spares = new Set<() => Iterable<pg.ClientBase>>();
  #looking: Repeating | null = null;
  #examining: Promise<void> | null = null;

  /** `config`: for the connections over which it asks. */
  constructor(config: pg.ClientConfig, timings: WatchTimings = WATCH_TIMINGS) {
    this.#config = config;
    this.timings = timings;
  }

  /** Until it ends. Best before it connects, so that nothing that is sent first goes unwatched. */
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

  /** `spares`: connections that nobody misses, asked for when one was found silent: these went the same way. Returns the undo. */
  onSilence(spares: () => Iterable<pg.ClientBase>): () => void {
    const own = (): Iterable<pg.ClientBase> => spares();
    this.#spares.add(own);
    return () => void this.#spares.delete(own);
  }

  /** Counts looks, not time: a process that was frozen itself has not waited. */
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

  /** Those that are silent still, and with them the spare ones. Returns what was cut. */
  #cut(suspects: readonly Watched[]): readonly pg.ClientBase[] {
    const silent = clientsOf(suspects.filter(({ quietLooks }) => quietLooks > 0));
    if (silent.length === 0) return [];
    // First the spare ones: whoever hears of a loss and tries again must not be given the next silent connection.
    const lost = [...[...this.#spares].flatMap((spares) => [...spares()]), ...silent];
    for (const client of lost) cutSession(client, new ConnectionSilent());
    return lost;
  }
}
