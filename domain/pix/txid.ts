// Transaction identifiers that the receiver chooses (Pix API 2.9.0; rule I3).

const COB_TXID = /^[a-zA-Z0-9]{26,35}$/;

/** A txid that an immediate charge (cob) may have: 26 to 35 ASCII letters and digits. Case-sensitive. */
export const isTxid = (text: string): boolean => COB_TXID.test(text);

/** Every byte as two digits: a txid is made for each charge. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * The txid of a charge: 16 bytes as 32 lower-case hexadecimal digits. The bytes must not be those of the charge's id,
 * so that neither tells the other; by its length the txid never equals a raw (26) or prefixed (29) charge id.
 * Throws RangeError when there are not 16 bytes.
 */
export const txidFromBytes = (bytes: Uint8Array): string => {
  if (bytes.length !== 16) throw new RangeError(`a txid is made of 16 bytes, not ${bytes.length}`);
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
};
