const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Returns the token with a different last character, which base64url decoders accept for the same bytes. */
export const respelled = (token: string): string =>
  token.slice(0, -1) + ALPHABET[ALPHABET.indexOf(token.at(-1) as string) + 1];
