// Expected rejections are values with an error code of the interface. http/kernel/errors.ts has one table of all codes.

export interface ErrorEntry {
  /** HTTP status. */
  readonly status: number;
  /** When the API responds with it; shown on the reference page. */
  readonly when: string;
}

/** Returns table entries with one status, in this order. */
export const codes = <const Code extends string>(
  status: number,
  whens: { readonly [code in Code]: string },
): { readonly [code in Code]: ErrorEntry } =>
  Object.fromEntries(Object.entries<string>(whens).map(([code, when]) => [code, { status, when }])) as {
    readonly [code in Code]: ErrorEntry;
  };

/** Error codes that belong to no capability. */
export const GENERAL_ERRORS = {
  ...codes(400, {
    invalid_request: 'Validation failed in several fields, or in a field without its own code.',
    invalid_json: 'The body is not valid JSON, or contains an object with duplicate keys.',
    invalid_filter: 'A list parameter is malformed or out of bounds.',
    invalid_cursor: 'The cursor is invalid, or belongs to another caller.',
    idempotency_key_required: 'The `Idempotency-Key` header, or `idempotencyKey` in the body, is missing.',
    invalid_idempotency_key: 'The idempotency key must be 8 to 128 printable ASCII characters.',
  }),
  ...codes(401, {
    unauthorized:
      'The API key or dashboard token is missing, invalid, replaced or expired; or the email address and password don’t match.',
  }),
  ...codes(403, {
    mode_not_allowed: 'A live key was used on a sandbox route, or a test key on a live route.',
    role_required: 'The role of the logged-in user does not allow this.',
  }),
  ...codes(404, { not_found: 'The resource or the route does not exist, or belongs to another account or mode.' }),
  ...codes(405, { method_not_allowed: 'The route does not support this method; `Allow` lists the supported ones.' }),
  ...codes(413, { payload_too_large: 'The body is larger than 64 kB.' }),
  ...codes(415, { unsupported_media_type: 'The body is not `application/json` in UTF-8.' }),
  ...codes(422, { unprocessable_entity: 'No provider is configured for the method. Do not retry.' }),
  ...codes(429, {
    rate_limited:
      'Too many requests in this minute, or too many concurrent streams or downloads. Retry after `Retry-After`.',
  }),
  ...codes(431, { headers_too_large: 'The request headers are larger than 16 kB.' }),
  ...codes(500, { internal_error: 'Internal error of the service. Safe to retry with the same `Idempotency-Key`.' }),
  ...codes(503, {
    service_unavailable:
      'The database or the provider is unavailable, the data is not up to date yet, or the service is overloaded. Safe to retry with the same `Idempotency-Key`.',
  }),
};

/** Error codes by capability. Each capability declares its own in `errors.ts` beside its aggregate and extends this interface. */
export interface ErrorCodes {
  readonly general: keyof typeof GENERAL_ERRORS;
}

/** Every `error.code` of Quita's responses (contract.md Errors, rules E1–E8). */
export type ErrorCode = ErrorCodes[keyof ErrorCodes];

export interface Problem {
  /** Path of the field, with dots, or name of a header or query parameter. */
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
