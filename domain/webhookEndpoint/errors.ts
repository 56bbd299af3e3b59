// The error codes of webhook endpoints.
import { codes } from '../kernel/rejection.ts';

export const ENDPOINT_ERRORS = codes(400, {
  invalid_url: 'The URL is malformed, or its destination is not allowed.',
  invalid_event: 'An event name is not in the catalogue.',
  endpoint_limit_reached: 'The account already has 16 webhook endpoints in this mode.',
  endpoint_not_active: 'The webhook endpoint of the delivery is inactive or deleted.',
});

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly webhooks: keyof typeof ENDPOINT_ERRORS;
  }
}
