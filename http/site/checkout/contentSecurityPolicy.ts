/**
 * Content-Security-Policy of every page under /pay (rule I7): own files only, nothing inline, no forms, and no framing, so that no site
 * can cover the page with another amount.
 */
export const checkoutContentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
