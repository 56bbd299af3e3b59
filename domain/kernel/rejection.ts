// Expected refusals are values with the error code of the interface. All codes are in one table in http/kernel/errors.ts.

export interface ErrorEntry {
  /** Of HTTP. */
  readonly status: number;
  /** When it is answered; for the reference page. */
  readonly when: string;
}

/** Returns entries of one status, in this order. */
export const codes = <const Code extends string>(
  status: number,
  whens: { readonly [code in Code]: string },
): { readonly [code in Code]: ErrorEntry } =>
  Object.fromEntries(Object.entries<string>(whens).map(([code, when]) => [code, { status, when }])) as {
    readonly [code in Code]: ErrorEntry;
  };

/** The error codes that belong to no capability. */
export const GENERAL_ERRORS = {
  ...codes(400, {
    invalid_request: 'Validation failed, in several fields or in one without a code of its own.',
    invalid_json: 'The body is not valid JSON, or one of its objects has a key twice.',
    invalid_filter: 'A list parameter is malformed or out of bounds.',
    invalid_cursor: 'The cursor is not one of the caller’s.',
    idempotency_key_required: 'The `Idempotency-Key` header, or `idempotencyKey` in the body, is missing.',
    invalid_idempotency_key: 'The idempotency key is not 8 to 128 printable ASCII characters.',
  }),
  ...codes(401, {
    unauthorized:
      'The API key or the dashboard’s token is missing, invalid, replaced or ended; or e-mail address and password are not somebody’s.',
  }),
  ...codes(403, {
    mode_not_allowed: 'A live key on a sandbox route, or the reverse.',
    role_required: 'The role of the user who is logged in does not allow this.',
  }),
  ...codes(404, { not_found: 'The resource or the route does not exist, or belongs to another account or mode.' }),
  ...codes(405, { method_not_allowed: 'The route has no such method; `Allow` lists those it has.' }),
  ...codes(413, { payload_too_large: 'The body is larger than 64 kB.' }),
  ...codes(415, { unsupported_media_type: 'The body is not `application/json` in UTF-8.' }),
  ...codes(422, { unprocessable_entity: 'No provider is configured for the method. Do not retry.' }),
  ...codes(429, {
    rate_limited:
      'Too many requests in this minute, or streams or downloads at once; `Retry-After` says when to go on.',
  }),
  ...codes(431, { headers_too_large: 'The request headers are larger than 16 kB.' }),
  ...codes(500, { internal_error: 'A fault of the service. Safe to retry with the same `Idempotency-Key`.' }),
  ...codes(503, {
    service_unavailable:
      'The store or the provider is away, what is read is not up to date, or too much is in progress. Safe to retry with the same `Idempotency-Key`.',
  }),
};

/** The codes by whose they are. Each capability declares its own in `errors.ts` beside its aggregate, and adds them here. */
export interface ErrorCodes {
  readonly general: keyof typeof GENERAL_ERRORS;
}

/** Every `error.code` that Quita answers (contract.md Errors, rules E1–E8). */
export type ErrorCode = ErrorCodes[keyof ErrorCodes];

export interface Problem {
  /** Path of the field with dots, or the name of a header or query parameter. */
  readonly param: string;
  readonly message: string;
}

export interface Rejection {
  readonly rejected: true;
  readonly code: ErrorCode;
  readonly message: string;
  readonly param?: string;
  readonly details?: readonly Problem[];
}

export const reject = (
  code: ErrorCode,
  message: string,
  more: { param?: string; details?: readonly Problem[] } = {},
): Rejection => ({ rejected: true, code, message, ...more });

export const isRejection = (value: unknown): value is Rejection =>
  typeof value === 'object' && value !== null && (value as { rejected?: unknown }).rejected === true;
