// Sends webhook attempts (rules W3–W5).

/** First word of `lastError` (rule W4). Stable: merchants alert on it. */
export type AttemptErrorKind = 'timeout' | 'dns' | 'tls' | 'connection' | 'status' | 'blocked' | 'redirect';

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as UTF-8, byte for byte. */
  readonly body: string;
  /** `live`: https only, public addresses only. `test`: http too; private addresses only when the deployment allows it. */
  readonly mode: 'test' | 'live';
  /** Limit for DNS, connect, TLS, headers and body together; used if shorter than the sender's own limit. */
  readonly deadlineMs?: number;
  /** The account of the message. Attempts of different accounts at the same host don't wait for each other. */
  readonly account: string;
  /** Somebody waits for the outcome of a ping, so it doesn't wait for the account's other attempts at the endpoint. */
  readonly isPing?: boolean;
}

export interface AttemptOutcome {
  /** True for a complete 2xx response in time. */
  readonly ok: boolean;
  /** null: no status line was received. */
  readonly statusCode: number | null;
  /** `<kind>` or `<kind>: <detail>`, at most 300 characters; null if ok. */
  readonly error: string | null;
  /** At most 4 KiB of the body as text, with NUL and invalid UTF-8 replaced; null: no body. */
  readonly responseBody: string | null;
  /** Retry-After of a 429 or 503, in milliseconds from now, at most 24 h; null: absent, invalid or in the past. */
  readonly retryAfterMs: number | null;
  readonly durationMs: number;
}

/** Why a URL is rejected at registration; null: accepted. Addresses of host names are checked at each connection. */
type UrlVerdict = { readonly message: string } | null;

/** The sender itself failed. Whether the attempt reached the endpoint is unknown. A job that fails with it is repeated. */
export class SenderFailed extends Error {
  override name = 'SenderFailed';
}

export interface WebhookSender {
  /** Resolves with the outcome, whatever the endpoint does. Rejects only with SenderFailed. */
  send(request: WebhookRequest): Promise<AttemptOutcome>;
  /**
   * Like `send`, but makes the request again if others at its origin are running and it has waited for more than a second, perhaps for
   * minutes. It must have the same URL, mode and account each time. If it is null, nothing is sent and the outcome is null. Also rejects
   * with an error of `requestOf`, and with the signal's reason if it aborts before the attempt begins.
   */
  sendInTurn(requestOf: () => Promise<WebhookRequest | null>, signal?: AbortSignal): Promise<AttemptOutcome | null>;
  /** Checks shape, scheme, port, userinfo and literal addresses of a URL (rules W5, W6). Returns why it is rejected, or null. */
  judgeUrl(url: string, mode: 'test' | 'live'): UrlVerdict;
  close(): Promise<void>;
}
