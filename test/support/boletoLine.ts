// The digitable line of a boleto, read back.
import { isBoletoBarcode, lineOfBarcode } from '../../domain/methods/boleto.ts';

const LINE = /^[0-9]{47}$/;

const rearranged = (line: string): string =>
  line.slice(0, 4) + line.slice(32, 47) + line.slice(4, 9) + line.slice(10, 20) + line.slice(21, 31);

/** 47 digits without marks, whose three fields and whose barcode have the right check digits. */
export const isBoletoLine = (text: string): boolean => {
  if (!LINE.test(text)) return false;
  const barcode = rearranged(text);
  return isBoletoBarcode(barcode) && lineOfBarcode(barcode) === text;
};

/** The barcode of a line. RangeError when it is no line. */
export const barcodeOfLine = (line: string): string => {
  if (!isBoletoLine(line)) throw new RangeError(`not the line of a boleto: ${line}`);
  return rearranged(line);
};
