// Email addresses: the addr-spec of RFC 5322 §3.4.1 without comments, folding and obsolete forms. The domain is a host name (RFC 1123) or
// an address literal.

const ADDRESS_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;

const DOT_ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Printable ASCII and blanks; quotes and backslashes only after a backslash. */
const QUOTED = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e\t]|\\[\x20-\x7e\t])*"$/;
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const LITERAL = /^\[[\x21-\x5a\x5e-\x7e]+\]$/;

/** Returns whether the text is an email address of at most 254 characters, 64 before the `@` (RFC 5321 §4.5.3.1). */
export const isEmailAddress = (text: string): boolean => {
  if (text.length > ADDRESS_LENGTH_MAX) return false;
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  if (local.length > LOCAL_LENGTH_MAX) return false;
  return (DOT_ATOM.test(local) || QUOTED.test(local)) && (HOST.test(domain) || LITERAL.test(domain));
};

const AROUND_AT = /[^\s@]@[^\s@]/;

/** Returns whether the text may contain an email address of any script. Charges accept every text as the address of a customer. */
export const mayBeEmailAddress = (text: string): boolean => AROUND_AT.test(text);
