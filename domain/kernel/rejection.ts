// Expected failures are values with a public error code. http/kernel/errors.ts combines all codes in one table.

export interface ErrorEntry {
  /** The HTTP status. */
  readonly status: number;
  /** The condition that causes the error, for the error reference. */
  readonly when: string;
}

/** Returns the entries of the codes that share an HTTP status, in the given order. */
export const codes = <const Code extends string>(
  status: number,
  whens: { readonly [code in Code]: string },
): { readonly [code in Code]: ErrorEntry } =>
  Object.fromEntries(Object.entries<string>(whens).map(([code, when]) => [code, { status, when }])) as {
    readonly [code in Code]: ErrorEntry;
  };

/** The error codes that are not specific to a capability. */
export const GENERAL_ERRORS = {
  ...codes(400, {
    invalid_request: 'Validation failed in several fields, or in a field without a code of its own.',
    invalid_json: 'The body is not valid JSON, or an object in it has a duplicate key.',
    invalid_filter: 'A list parameter is malformed or out of bounds.',
    invalid_cursor: 'The cursor matches no object that the caller can list.',
    change_limit_reached:
      'The account, its keys, a user, the endpoint, the delivery or the dispute case reached its maximum number of changes. Its present state stays in force.',
    idempotency_key_required: 'The `Idempotency-Key` header, or `idempotencyKey` in the body, is missing.',
    invalid_idempotency_key: 'The idempotency key is not 8 to 128 printable ASCII characters.',
  }),
  ...codes(401, {
    unauthorized:
      'The API key or dashboard token is missing, invalid, revoked or expired, or the email address and password don’t match.',
  }),
  ...codes(403, {
    mode_not_allowed: 'The key’s mode doesn’t fit the route: sandbox routes accept test keys only.',
    client_certificate_required:
      'The institution called back without a client certificate that the proxy in front of Quita verified.',
    csrf_rejected:
      'A form of the dashboard came from another site, or from a page of a session that has ended. Reload the page.',
    role_required: 'The role of the user does not allow this operation.',
  }),
  ...codes(404, { not_found: 'The resource or the route does not exist, or belongs to another account or mode.' }),
  ...codes(405, { method_not_allowed: 'The route does not support the method. `Allow` lists the supported methods.' }),
  ...codes(409, {
    work_in_progress:
      'A rebuild or verification of read models is running, and only one may run at a time. Wait until it has ended.',
  }),
  ...codes(413, { payload_too_large: 'The body is larger than 64 kB.' }),
  ...codes(415, { unsupported_media_type: 'The body is not `application/json` in UTF-8.' }),
  ...codes(422, { unprocessable_entity: 'No provider is configured for the payment method. Do not retry.' }),
  ...codes(429, {
    rate_limited:
      'Too many requests in this minute, or too many concurrent streams or downloads. Wait for the time in `Retry-After`.',
  }),
  ...codes(431, { headers_too_large: 'The request headers are larger than 16 kB.' }),
  ...codes(500, { internal_error: 'The server failed unexpectedly. Safe to retry with the same `Idempotency-Key`.' }),
  ...codes(503, {
    service_unavailable:
      'The database or the provider is unavailable, the requested data is not up to date, or the server is overloaded. Safe to retry with the same `Idempotency-Key`.',
  }),
};

/** The error codes by capability. Each capability declares its own in `errors.ts` beside its aggregate and adds them to this interface. */
export interface ErrorCodes {
  readonly general: keyof typeof GENERAL_ERRORS;
}

/** Every `error.code` that Quita returns (contract.md Errors, rules E1–E8). */
export type ErrorCode = ErrorCodes[keyof ErrorCodes];

export interface Problem {
  /** The dotted path of the field, or the name of a header or query parameter. */
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

/** The answer to a form that acts once, if what it showed has changed since, because it was sent before or by somebody else. */
export const SENT_BEFORE = reject(
  'invalid_request',
  'This form was already sent, or something else changed in the meantime. Nothing was done now. Check the page before you repeat it.',
);

/** The same for a form whose answer shows a new secret, which may have got lost on the way. */
export const SECRET_MADE_BEFORE = reject(
  'invalid_request',
  'This form was already sent, or something else changed in the meantime. Nothing was done now. A secret is shown only once: if you don’t have the new one, replace it.',
);

export const isRejection = (value: unknown): value is Rejection =>
  typeof value === 'object' && value !== null && (value as { rejected?: unknown }).rejected === true;
