const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The same bytes, written with the last character of base64url that decoders take for it as well. */
export const respelled = (token: string): string =>
  token.slice(0, -1) + ALPHABET[ALPHABET.indexOf(token.at(-1) as string) + 1];
