/**
 * Content-Security-Policy of every page under /pay (rule I7): own files only, nothing inline, no framing (so that no
 * site can put its own amount over the page), no form.
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
