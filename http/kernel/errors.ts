import { AGGREGATES_ERRORS } from '../../domain/aggregates.ts';
import {
  type ErrorCode,
  type ErrorEntry,
  GENERAL_ERRORS,
  type Problem,
  type Rejection,
} from '../../domain/kernel/rejection.ts';

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'rate_limit_error'
  | 'api_error';

/** Returns the error type of an HTTP status. */
export const errorType = (status: number): ErrorType =>
  TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
const TYPES: { readonly [status: number]: ErrorType } = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

/** All error codes with their HTTP status: the general ones and those that aggregates declare. */
export const ERRORS: { readonly [Code in ErrorCode]: ErrorEntry } = { ...GENERAL_ERRORS, ...AGGREGATES_ERRORS };

export const errorBody = (rejection: Omit<Rejection, 'rejected'>, requestId: string) => {
  const { code, message, param } = rejection;
  const details = detailsOf(rejection);
  return {
    error: {
      type: errorType(ERRORS[code].status),
      code,
      message,
      ...(param !== undefined && { param }),
      ...(details && { details }),
    },
    request_id: requestId,
  };
};

/** Returns all problems of the request (E2). A field that a use case rejects is the only problem. */
const detailsOf = ({ code, message, param, details }: Omit<Rejection, 'rejected'>): readonly Problem[] | undefined => {
  if (details !== undefined || param === undefined || ERRORS[code].status !== 400) return details;
  const isNamed = message.startsWith(`${param} `);
  return [{ param, message: isNamed ? message.slice(param.length + 1).replace(/\.$/, '') : message }];
};

/** Returns the `Link` header of an error response, which leads to the code's explanation. `publicUrl` has no trailing slash. */
export const helpLink = (publicUrl: string, code: ErrorCode): string =>
  `<${publicUrl}/docs/errors#${code}>; rel="help"`;
