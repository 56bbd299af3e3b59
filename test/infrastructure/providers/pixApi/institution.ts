// An institution whose answers are written by a test.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** An object is sent as JSON. */
  readonly body?: unknown;
}
/** Returns an answer, or null if the script sends the answer itself. */
type Script = (request: Request, res: ServerResponse) => Answer | null;

export class Institution {
  readonly requests: Request[] = [];
  readonly tokenRequests: Request[] = [];
  /** Answers all calls except token requests. */
  answer: Script = () => ({ status: 404, body: { title: 'Não encontrado', status: 404 } });
  token: Script = () => ({ body: { access_token: `token-${this.tokenRequests.length}`, expires_in: 3600 } });
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async open(): Promise<Institution> {
    let institution: Institution;
    const sockets = new Set<Socket>();
    const server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const url = new URL(req.url ?? '', 'http://institution.invalid');
        const request: Request = {
          method: req.method ?? '',
          path: url.pathname,
          query: url.searchParams,
          headers: req.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        };
        const isToken = url.pathname === '/oauth/token';
        (isToken ? institution.tokenRequests : institution.requests).push(request);
        const answer = (isToken ? institution.token : institution.answer)(request, res);
        if (answer === null) return;
        const { status = 200, headers = {}, body } = answer;
        res.writeHead(status, { 'content-type': 'application/json', ...headers });
        res.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
      });
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    institution = new Institution(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return institution;
  }

  close(): Promise<void> {
    return this.#close();
  }

  get terms() {
    return { baseUrl: this.url, tokenUrl: `${this.url}/oauth/token` };
  }
}
