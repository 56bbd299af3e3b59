// The 43rd character of an HS256 signature has two bits that say nothing, and decoders ignore them: four texts would be one signature.

/** Whether the signature is spelled as it was issued: a token with any character changed is another one, and nobody's. */
export const isSpelledAsIssued = (token: string): boolean => {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
};
