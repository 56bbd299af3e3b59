const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Returns the same bytes with another last character of base64url that decoders accept. */
export const respelled = (token: string): string =>
  token.slice(0, -1) + ALPHABET[ALPHABET.indexOf(token.at(-1) as string) + 1];
