// Attempts by one account to block the process for everybody. Each attack continues until the signal, whatever the responses.
import { randomBytes, randomInt } from 'node:crypto';
import { pdfFile } from '../../support/images.ts';
import { beside, Caller, openSocket, type Tally, type Target } from './requests.ts';

export interface AttackOrder extends Target {
  /** The user whose password is guessed. */
  readonly guessedEmail: string;
  /** Numbers of the attacks, from 1. */
  readonly attacks: readonly number[];
}

const FILE_BYTES = 10 * 1024 * 1024;
/** Long enough that quick responses don’t just measure the attacker’s own loop. */
const SOON_MS = 20;
const LATER_MS = 1_000;

/** Returns an image of 1.3 million empty chunks, of the largest accepted size. */
const emptyChunks = (): Buffer => {
  const file = Buffer.alloc(FILE_BYTES, 'EMTY\0\0\0\0');
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(FILE_BYTES - 8, 4);
  file.write('WEBPVP8X', 8, 'latin1');
  file.writeUInt32LE(10, 16);
  file.fill(0, 20, 30);
  file.fill('EMTY\0\0\0\0', 30);
  return file;
};
/** Returns a file that is accepted. */
const document = (): Buffer => pdfFile(FILE_BYTES - 1_024);

interface Grant {
  readonly id: string;
  readonly upload_url: string;
  readonly upload_headers: Readonly<Record<string, string>>;
}

/** A disputed charge of the attacker, and its uploads of evidence. */
class Desk {
  readonly #caller: Caller;
  readonly #path: string;

  private constructor(caller: Caller, path: string) {
    this.#caller = caller;
    this.#path = path;
  }

  static async open(caller: Caller): Promise<Desk> {
    const insist = async (path: string, body: object): Promise<string> => {
      const key = { 'idempotency-key': `hostile-${randomBytes(8).toString('hex')}` };
      for (;;) {
        const { status, text } = await caller.call('POST', path, body, key);
        if (status === 200 || status === 201) return (JSON.parse(text) as { id: string }).id;
        if (status !== 0 && status !== 429 && status !== 503) throw new Error(`POST ${path}: ${status} ${text}`);
      }
    };
    const id = await insist('/v1/charges', { amount: 1_000, payment_method: 'pix' });
    await insist(`/v1/sandbox/charges/${id}/pay`, {});
    const caseId = await insist(`/v1/sandbox/charges/${id}/med`, {});
    return new Desk(caller, `/v1/med/cases/${caseId}/evidence`);
  }

  async grant(type: 'image/webp' | 'application/pdf', size: number): Promise<Grant | number> {
    const file = { file_name: type === 'image/webp' ? 'a.webp' : 'a.pdf', file_size: size, mime_type: type };
    const { status, text } = await this.#caller.call('POST', this.#path, file);
    return status === 201 ? (JSON.parse(text) as Grant) : status;
  }
  put({ upload_url, upload_headers }: Grant, bytes: Buffer): Promise<{ readonly status: number }> {
    const { pathname, search } = new URL(upload_url);
    return this.#caller.call('PUT', pathname + search, bytes, upload_headers);
  }
  async complete({ id }: Grant): Promise<number> {
    return (await this.#caller.call('POST', `${this.#path}/${id}/complete`)).status;
  }
  /** Returns the path of a fresh link to a confirmed file, or null if there is none or the request failed. */
  async viewPath(): Promise<string | null> {
    const { status, text } = await this.#caller.call('GET', this.#path);
    if (status !== 200) return null;
    const [first] = (JSON.parse(text) as { data: readonly { view_url: string }[] }).data;
    if (first === undefined) return null;
    const { pathname, search } = new URL(first.view_url);
    return pathname + search;
  }
}

/** 1: paths that are slow to mask in logs, also in 429 responses. */
const hostilePaths = (order: AttackOrder, tally: Tally, signal: AbortSignal): Promise<void> => {
  const caller = new Caller(order, '127.0.0.2');
  const paths = [
    `/v1/charges/${'eyJ'.repeat(5_000)}`,
    `/v1/charges/${'eyJ.'.repeat(3_500)}`,
    `/${'ak_'.repeat(5_000)}`,
  ];
  return beside(16, signal, async (n) => {
    tally.add('paths', (await caller.call('GET', paths[n % paths.length] as string)).status);
    return SOON_MS;
  }).finally(() => caller.close());
};

/** 2: a file that is slow to validate, validated again and again. */
const refusedFiles = async (order: AttackOrder, tally: Tally, signal: AbortSignal): Promise<void> => {
  const caller = new Caller(order, '127.0.0.2');
  const file = emptyChunks();
  const desk = await Desk.open(caller);
  let grant: Grant | number = 0;
  await beside(8, signal, async (n) => {
    if (typeof grant === 'number' && n > 0) return LATER_MS;
    if (typeof grant === 'number') {
      grant = await desk.grant('image/webp', file.length);
      if (typeof grant === 'number') tally.add('grants of refused files', grant);
      else tally.add('uploads of refused files', (await desk.put(grant, file)).status);
      return LATER_MS;
    }
    const status = await desk.complete(grant);
    tally.add('completes', status);
    if (status === 404 || status === 409) grant = 0;
    return SOON_MS;
  }).finally(() => caller.close());
};

/** 3: as many grants as possible, each used by several concurrent uploads, none completed. */
const unboundedUploads = async (order: AttackOrder, tally: Tally, signal: AbortSignal): Promise<void> => {
  const caller = new Caller(order, '127.0.0.2');
  const file = emptyChunks();
  const desks = await Promise.all(Array.from({ length: 4 }, () => Desk.open(caller)));
  await beside(8, signal, async (n) => {
    const desk = desks[n % desks.length] as Desk;
    const grant = await desk.grant('image/webp', file.length);
    tally.add('grants', typeof grant === 'number' ? grant : 201);
    if (typeof grant === 'number') return LATER_MS;
    const uploads = await Promise.all(Array.from({ length: 4 }, () => desk.put(grant, file)));
    for (const { status } of uploads) tally.add('uploads', status);
    return SOON_MS;
  }).finally(() => caller.close());
};

/** 4: a hundred responses of ten megabytes that are never read. */
const unreadViews = async (order: AttackOrder, tally: Tally, signal: AbortSignal): Promise<void> => {
  const caller = new Caller(order, '127.0.0.3');
  const desk = await Desk.open(caller);
  const file = document();
  let path: string | null = null;
  const confirm = async (): Promise<void> => {
    while (!signal.aborted) {
      const grant = await desk.grant('application/pdf', file.length);
      if (typeof grant === 'number' || (await desk.put(grant, file)).status !== 200) continue;
      const status = await desk.complete(grant);
      tally.add('viewed file', status);
      if (status === 200) return;
    }
  };
  await confirm();
  const renewing = beside(1, signal, async () => {
    path = (await desk.viewPath()) ?? path;
    return 60 * LATER_MS;
  });
  await Promise.all([
    renewing,
    beside(100, signal, async () => {
      if (path === null) return LATER_MS;
      const { socket, ended } = openSocket(order.port, '127.0.0.3', signal);
      let first = '';
      socket.once('data', (bytes) => {
        first = bytes.toString('latin1', 9, 12);
        socket.pause();
      });
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
      await ended;
      tally.add('views', first === '' ? 'lost' : first);
      return LATER_MS;
    }),
  ]).finally(() => caller.close());
};

/** 5: far more connections from one address than needed, each of which sends a little now and then. */
const slowConnections = async (order: AttackOrder, tally: Tally, signal: AbortSignal): Promise<void> => {
  const address = '127.0.0.4';
  const caller = new Caller(order, address, 4);
  const desk = await Desk.open(caller);
  await beside(600, signal, async (n) => {
    const grant = n < 20 ? await desk.grant('image/webp', FILE_BYTES) : 0;
    const { socket, ended } = openSocket(order.port, address, signal);
    let answer = '';
    socket.on('data', (bytes) => {
      if (answer === '') answer = bytes.toString('latin1', 9, 12);
    });
    if (typeof grant === 'number')
      socket.write(`POST /v1/charges HTTP/1.1\r\nHost: 127.0.0.1\r\napikey: ${order.apiKey}\r\nX-A: `);
    else {
      const { pathname, search } = new URL(grant.upload_url);
      const headers = Object.entries(grant.upload_headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.join('')}\r\n`);
    }
    const dripping = setInterval(() => socket.write('a'), LATER_MS);
    await ended;
    clearInterval(dripping);
    tally.add(typeof grant === 'number' ? 'slow headers' : 'slow uploads', answer === '' ? 'lost' : answer);
    return LATER_MS;
  }).finally(() => caller.close());
};

/** 6: sixty concurrent guesses at one password, each from another address. */
const guessedPasswords = (order: AttackOrder, tally: Tally, signal: AbortSignal): Promise<void> =>
  beside(60, signal, async () => {
    const caller = new Caller(order, `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`, 1);
    const login = { email: order.guessedEmail, password: randomBytes(12).toString('base64url') };
    const { status } = await caller.call('POST', '/v1/auth/login', login);
    tally.add('guesses', status);
    await caller.close();
    return status === 401 ? 0 : LATER_MS;
  });

export const ATTACKS = [hostilePaths, refusedFiles, unboundedUploads, unreadViews, slowConnections, guessedPasswords];
