// The one error table: the source of statuses and types, of the reference page and of its tests (contract.md Errors, rules E).
import type { Request, Response } from 'express';
import type { ErrorCode, Problem, Rejection } from '../../domain/kernel/rejection.ts';
import { preferencesOf } from './preferences.ts';
import type { Refusal } from './refusal.ts';
import type { Preferences } from './route.ts';

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'rate_limit_error'
  | 'api_error';

export interface ErrorEntry {
  readonly status: number;
  readonly type: ErrorType;
  /** When it is answered; for the reference page. */
  readonly when: string;
}

const bad = (when: string): ErrorEntry => ({ status: 400, type: 'invalid_request_error', when });

export const ERRORS: { readonly [Code in ErrorCode]: ErrorEntry } = {
  invalid_request: bad('Validation failed, in several fields or in one without a code of its own.'),
  invalid_amount: bad('`amount` is not an integer within its bounds.'),
  invalid_currency: bad('The currency is malformed, or not one that the method takes.'),
  invalid_payment_method: bad('The payment method is missing or not accepted here.'),
  invalid_expires_in: bad('`expires_in` is not an integer of at least 60.'),
  invalid_description: bad('`description` is not a string of at most 500 characters.'),
  invalid_customer: bad('What is said of the customer is malformed.'),
  invalid_metadata: bad('`metadata` is not an object, too large, or lacks what the method needs.'),
  invalid_json: bad('The body is not valid JSON, or one of its objects has a key twice.'),
  invalid_url: bad('The URL is malformed, or webhooks may not go there.'),
  invalid_event: bad('An event name is not in the catalogue.'),
  invalid_filter: bad('A list parameter is malformed or out of bounds.'),
  invalid_cursor: bad('The cursor is not one of the caller’s.'),
  invalid_payer_tax_id: bad('`expected_payer_tax_id` is not a bare CPF or CNPJ with valid check digits.'),
  payer_tax_id_mismatch: bad('`expected_payer_tax_id` differs from `customer.document`.'),
  customer_name_required: bad('`expected_payer_tax_id` needs `customer.name`.'),
  idempotency_key_required: bad('The `Idempotency-Key` header, or `idempotencyKey` in the body, is missing.'),
  invalid_idempotency_key: bad('The idempotency key is not 8 to 128 printable ASCII characters.'),
  endpoint_limit_reached: bad('The account has 16 webhook endpoints in this mode.'),
  endpoint_not_active: bad('The webhook endpoint of the delivery is inactive or deleted: nothing goes there.'),
  refund_limit_reached: bad('The payment has 100 refunds; those that failed count too.'),
  resend_limit_reached: bad('The webhooks of the payment were asked for again 100 times.'),
  refund_amount_exceeds_remaining: bad('The refund is larger than what is left of the payment.'),
  transaction_not_refundable: bad('The payment is not settled, or fully refunded already.'),
  transaction_not_cancellable: bad('The payment is settled or has ended: a settled one is refunded instead.'),
  charge_disputed: bad('The payment is disputed: it can’t be refunded.'),
  invalid_file_name: bad(
    '`file_name` is not 1 to 255 characters, contains a slash, a backslash, a control or a direction character, is `.` or `..`, or has an extension of another type than `mime_type`.',
  ),
  invalid_file_size: bad('`file_size` is not an integer from 1 to 10,485,760 bytes.'),
  invalid_mime_type: bad('`mime_type` is none of image/png, image/jpeg, image/webp, image/gif and application/pdf.'),
  invalid_evidence: bad(
    'The uploaded file is not of its declared type, damaged, above 50 megapixels, several files in one, or a PDF with JavaScript or launch actions. Request a new grant.',
  ),
  evidence_limit_reached: bad('The case has 20 confirmed files.'),
  charge_not_disputable: bad('The charge is not paid, in a dispute case already, lost in one, or fully refunded.'),
  invalid_pix_key: bad('`destination.pix_key` is not a Pix key as the directory holds it.'),
  payout_not_cancellable: bad('The payout is not pending: the bank has it, or it has ended.'),
  payout_not_awaiting_approval: bad('The payout does not wait for an approval, or was reviewed already.'),
  case_not_open: bad('The dispute case has ended, is not open any more, or has no outcome to be reviewed.'),
  case_under_review: bad('An outcome of the dispute case is being reviewed: nothing else can end it meanwhile.'),
  invalid_reason: bad('The reason of the appeal has fewer than 5 or more than 2,000 characters, or is blank.'),
  REFUND_NOT_SUPPORTED: {
    status: 422,
    type: 'invalid_request_error',
    when: 'The method, the time since settlement or the destination does not allow this refund.',
  },
  insufficient_funds: {
    status: 422,
    type: 'invalid_request_error',
    when: 'The amount of the payout and its fee exceed the available balance.',
  },
  destination_not_allowed: {
    status: 422,
    type: 'invalid_request_error',
    when: 'The account does not allow payouts to this destination.',
  },
  'fraud.customer_velocity_exceeded': {
    status: 403,
    type: 'permission_error',
    when: 'Too many live charges of this customer within an hour.',
  },
  'fraud.account_velocity_exceeded': {
    status: 403,
    type: 'permission_error',
    when: 'Too many live charges of this account within an hour, or too many or too large live refunds or payouts.',
  },
  unauthorized: {
    status: 401,
    type: 'authentication_error',
    when: 'The API key or the dashboard’s token is missing, invalid, replaced or ended; or e-mail address and password are not somebody’s.',
  },
  second_factor_required: {
    status: 401,
    type: 'authentication_error',
    when: 'The password is right, and the user has a second factor: send its `code`, too.',
  },
  second_factor_enrolment_required: {
    status: 403,
    type: 'permission_error',
    when: 'In production an operator enrols a second factor first: `POST /v1/auth/totp/enroll`.',
  },
  mode_not_allowed: { status: 403, type: 'permission_error', when: 'A live key on a sandbox route, or the reverse.' },
  API_KEY_ROLE_REQUIRED: {
    status: 403,
    type: 'permission_error',
    when: 'Only an OWNER or ADMIN of the account may issue, rotate and revoke API keys.',
  },
  invalid_signature: {
    status: 403,
    type: 'permission_error',
    when: 'The signed URL is not for this request, was used already, or has expired.',
  },
  role_required: {
    status: 403,
    type: 'permission_error',
    when: 'The role of the user who is logged in does not allow this.',
  },
  not_found: {
    status: 404,
    type: 'not_found_error',
    when: 'The resource or the route does not exist, or belongs to another account or mode.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    when: 'The route has no such method; `Allow` lists those it has.',
  },
  held_already_settled: {
    status: 409,
    type: 'conflict_error',
    when: 'An operator already settled the money that was held.',
  },
  idempotency_key_reused: {
    status: 409,
    type: 'conflict_error',
    when: 'The idempotency key was used with a different request.',
  },
  idempotency_request_in_progress: {
    status: 409,
    type: 'conflict_error',
    when: 'A request with this idempotency key is still running.',
  },
  EVIDENCE_NOT_UPLOADED: {
    status: 409,
    type: 'conflict_error',
    when: 'The file has not arrived, or its upload URL has expired: request a new grant.',
  },
  EVIDENCE_SIZE_MISMATCH: {
    status: 409,
    type: 'conflict_error',
    when: 'The stored file has not the declared size.',
  },
  upload_in_progress: {
    status: 409,
    type: 'conflict_error',
    when: 'Another request sends a file to the same upload URL. Wait until it ends.',
  },
  upload_too_slow: {
    status: 408,
    type: 'invalid_request_error',
    when: 'The upload was slower than 10 kB/s after its first 10 seconds. Its URL stays valid.',
  },
  payload_too_large: { status: 413, type: 'invalid_request_error', when: 'The body is larger than 64 kB.' },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    when: 'The body is not `application/json` in UTF-8.',
  },
  unprocessable_entity: {
    status: 422,
    type: 'invalid_request_error',
    when: 'No provider is configured for the method. Do not retry.',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    when: 'Too many requests in this minute, or streams or downloads at once; `Retry-After` says when to go on.',
  },
  upload_limit_reached: {
    status: 429,
    type: 'rate_limit_error',
    when: 'The case has 20 open uploads, or the account 200 MB of unconfirmed files in this mode; `Retry-After` says when to try again.',
  },
  headers_too_large: { status: 431, type: 'invalid_request_error', when: 'The request headers are larger than 16 kB.' },
  internal_error: {
    status: 500,
    type: 'api_error',
    when: 'A fault of the service. Safe to retry with the same `Idempotency-Key`.',
  },
  service_unavailable: {
    status: 503,
    type: 'api_error',
    when: 'The store or the provider is away, what is read is not up to date, or too much is in progress. Safe to retry with the same `Idempotency-Key`.',
  },
};

/** Seconds after which a repeat makes sense, where the code itself tells. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, string>> = {
  idempotency_request_in_progress: '1',
  service_unavailable: '2',
};

export interface ErrorBody {
  readonly error: {
    readonly type: ErrorType;
    readonly code: ErrorCode;
    readonly message: string;
    readonly param?: string;
    readonly details?: readonly Problem[];
  };
  readonly request_id: string;
}

export const errorBody = (
  { code, message, param, details }: Omit<Rejection, 'rejected'>,
  requestId: string,
): ErrorBody => ({
  error: { type: ERRORS[code].type, code, message, ...(param !== undefined && { param }), ...(details && { details }) },
  request_id: requestId,
});

/** The value of the header `Link` of an error answer: where its code is explained. `publicUrl`: without a slash at its end. */
export const helpLink = (publicUrl: string, code: ErrorCode): string =>
  `<${publicUrl}/docs/errors#${code}>; rel="help"`;

/** Settings of the application: its public URL, and what it shows to browsers. */
export const PUBLIC_URL = 'public url';
export const ERROR_PAGE = 'error page';

/** An error as a page may tell of it. */
export interface ShownError {
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly prefers: Preferences;
}
export type ErrorPage = (error: ShownError) => {
  readonly page: string;
  readonly headers: { readonly [name: string]: string };
};

/** Paths of the API: JSON is answered there whatever is accepted. */
const OF_PROGRAMS = /^\/(?:v1|ops)(?:\/|$)/;

const isForBrowser = (req: Request): boolean =>
  (req.method === 'GET' || req.method === 'HEAD') &&
  !OF_PROGRAMS.test(req.path) &&
  preferencesOf(req).type(['json', 'html']) === 'html';

export const sendError = (req: Request, res: Response, rejection: Omit<Refusal, 'rejected'>): void => {
  const { code, headers = {} } = rejection;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  const retryAfter = RETRY_AFTER_SECONDS[code];
  if (retryAfter !== undefined && !res.hasHeader('Retry-After')) res.setHeader('Retry-After', retryAfter);
  res.setHeader('Link', helpLink(req.app.get(PUBLIC_URL), code));
  const errorPage = req.app.get(ERROR_PAGE) as ErrorPage | null;
  if (errorPage !== null && isForBrowser(req)) sendErrorPage(errorPage, req, res, code);
  else sendJson(res, ERRORS[code].status, errorBody(rejection, requestIdOf(req)));
};

const sendErrorPage = (errorPage: ErrorPage, req: Request, res: Response, code: ErrorCode): void => {
  const { status } = ERRORS[code];
  const error = { path: req.path, status, code, requestId: requestIdOf(req), prefers: preferencesOf(req) };
  const { page, headers } = errorPage(error);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.setHeader('Vary', 'Accept, Accept-Language');
  sendUncached(res, status, 'text/html; charset=utf-8', page);
};

export const requestIdOf = (req: Request): string => (req as { requestId?: string }).requestId ?? '';

export const sendJson = (res: Response, status: number, body: unknown): void =>
  sendUncached(res, status, 'application/json; charset=utf-8', JSON.stringify(body));

const sendUncached = (res: Response, status: number, contentType: string, text: string): void => {
  res.statusCode = status;
  res.setHeader('Content-Type', contentType);
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.end(text);
};
