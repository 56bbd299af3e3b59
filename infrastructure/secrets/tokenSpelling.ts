// The 43rd character of an HS256 signature has two unused bits that decoders ignore, so four texts would decode to one signature.

/** Returns whether the signature is spelled as issued. A token with any changed character is invalid. */
export const isSpelledAsIssued = (token: string): boolean => {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
};
