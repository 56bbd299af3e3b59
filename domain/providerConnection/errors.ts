// The error codes of provider connections.
import { codes } from '../kernel/rejection.ts';

export const CONNECTION_ERRORS = codes(400, {
  invalid_connection:
    'A setting of the provider connection is invalid: a URL, a certificate, a Pix key, a preset, a method or an order.',
  connection_in_use:
    'The provider connection has payments or payouts that are not final, or callbacks that are not handled, so it can’t be removed.',
});

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly providers: keyof typeof CONNECTION_ERRORS;
  }
}
