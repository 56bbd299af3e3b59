// Parses the digitable line of a boleto.
import { isBoletoBarcode, lineOfBarcode } from '../../domain/methods/boleto.ts';

const LINE = /^[0-9]{47}$/;

const rearranged = (line: string): string =>
  line.slice(0, 4) + line.slice(32, 47) + line.slice(4, 9) + line.slice(10, 20) + line.slice(21, 31);

/** Returns whether the line has 47 digits without punctuation and all check digits are valid. */
export const isBoletoLine = (text: string): boolean => {
  if (!LINE.test(text)) return false;
  const barcode = rearranged(text);
  return isBoletoBarcode(barcode) && lineOfBarcode(barcode) === text;
};

/** Returns the bar code of a line. Throws RangeError if the line is invalid. */
export const barcodeOfLine = (line: string): string => {
  if (!isBoletoLine(line)) throw new RangeError(`not the line of a boleto: ${line}`);
  return rearranged(line);
};
