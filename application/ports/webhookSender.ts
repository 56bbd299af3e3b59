// One webhook attempt over the network (rules W3–W5). It never throws: every end is an outcome.

/** First word of `lastError` (rule W4). Stable: merchants alert on it. */
export type AttemptErrorKind = 'timeout' | 'dns' | 'tls' | 'connection' | 'status' | 'blocked' | 'redirect';

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exactly these bytes are sent, as UTF-8. */
  readonly body: string;
  /** `live`: https only, public addresses only. `test`: http too; private addresses only when the deployment allows it. */
  readonly mode: 'test' | 'live';
  /** Over DNS, connect, TLS, headers and body, where it is shorter than the sender's own. */
  readonly deadlineMs?: number;
  /** The account of the message: no account's attempts at a host wait for another's. */
  readonly account: string;
}

export interface AttemptOutcome {
  /** 2xx, whole answer in time. */
  readonly ok: boolean;
  /** null when no status line came. */
  readonly statusCode: number | null;
  /** `<kind>` or `<kind>: <detail>`, at most 300 characters; null when ok. */
  readonly error: string | null;
  /** At most 4 KiB of the body as text, NUL and broken UTF-8 replaced; null when there was none. */
  readonly responseBody: string | null;
  /** Parsed Retry-After of a 429 or 503, in milliseconds from now, capped at 24 h; null when absent, unreadable or past. */
  readonly retryAfterMs: number | null;
  readonly durationMs: number;
}

/** Why a URL is refused at registration; null when it is not (the addresses of names are judged at each connection). */
type UrlVerdict = { readonly message: string } | null;

export interface WebhookSender {
  send(request: WebhookRequest): Promise<AttemptOutcome>;
  /** Judges shape, scheme, port, userinfo and literal addresses of a URL (rules W5, W6). */
  judgeUrl(url: string, mode: 'test' | 'live'): UrlVerdict;
  close(): Promise<void>;
}
