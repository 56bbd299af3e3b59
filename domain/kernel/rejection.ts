// Expected refusals are values with the error code of the interface. The HTTP status of each code is in http/kernel/errors.ts.

/** Every `error.code` that Quita answers (contract.md Errors, rules E1–E8). */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_amount'
  | 'invalid_currency'
  | 'invalid_payment_method'
  | 'invalid_expires_in'
  | 'invalid_description'
  | 'invalid_customer'
  | 'invalid_metadata'
  | 'invalid_json'
  | 'invalid_url'
  | 'invalid_event'
  | 'invalid_filter'
  | 'invalid_cursor'
  | 'invalid_payer_tax_id'
  | 'payer_tax_id_mismatch'
  | 'customer_name_required'
  | 'idempotency_key_required'
  | 'invalid_idempotency_key'
  | 'idempotency_key_reused'
  | 'idempotency_request_in_progress'
  | 'endpoint_limit_reached'
  | 'endpoint_not_active'
  | 'refund_limit_reached'
  | 'resend_limit_reached'
  | 'refund_amount_exceeds_remaining'
  | 'transaction_not_refundable'
  | 'transaction_not_cancellable'
  | 'charge_disputed'
  | 'invalid_file_name'
  | 'invalid_file_size'
  | 'invalid_mime_type'
  | 'invalid_evidence'
  | 'evidence_limit_reached'
  | 'EVIDENCE_NOT_UPLOADED'
  | 'EVIDENCE_SIZE_MISMATCH'
  | 'upload_limit_reached'
  | 'upload_in_progress'
  | 'upload_too_slow'
  | 'invalid_signature'
  | 'charge_not_disputable'
  | 'case_not_open'
  | 'case_under_review'
  | 'invalid_reason'
  | 'held_already_settled'
  | 'REFUND_NOT_SUPPORTED'
  | 'invalid_pix_key'
  | 'insufficient_funds'
  | 'destination_not_allowed'
  | 'payout_not_cancellable'
  | 'payout_not_awaiting_approval'
  | 'fraud.customer_velocity_exceeded'
  | 'fraud.account_velocity_exceeded'
  | 'unauthorized'
  | 'mode_not_allowed'
  | 'role_required'
  | 'second_factor_required'
  | 'second_factor_enrolment_required'
  | 'API_KEY_ROLE_REQUIRED'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'headers_too_large'
  | 'unsupported_media_type'
  | 'unprocessable_entity'
  | 'rate_limited'
  | 'internal_error'
  | 'service_unavailable';

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
