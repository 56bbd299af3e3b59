// Expected refusals are values with the error code of the interface. All codes are in one table in http/kernel/errors.ts.

/** Codes of no capability. */
type GeneralCode =
  | 'invalid_request'
  | 'invalid_json'
  | 'invalid_filter'
  | 'invalid_cursor'
  | 'idempotency_key_required'
  | 'invalid_idempotency_key'
  | 'unauthorized'
  | 'mode_not_allowed'
  | 'role_required'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'unprocessable_entity'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'service_unavailable';

/** The codes by whose they are. Each capability declares its own in `errors.ts` beside its aggregate, and adds them here. */
export interface ErrorCodes {
  readonly general: GeneralCode;
}

/** Every `error.code` that Quita answers (contract.md Errors, rules E1–E8). */
export type ErrorCode = ErrorCodes[keyof ErrorCodes];

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
