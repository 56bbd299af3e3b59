// Parses EMV tag-length-value text.
interface TlvField {
  /** `00` to `99`. */
  readonly id: string;
  /** 1 to 99 characters. */
  readonly value: string;
}

const TWO_DIGITS = /^[0-9]{2}$/;

/** Returns the fields in order, including repeated ids, or null if the text doesn’t consist of fields. */
export const parseTlv = (text: string): readonly TlvField[] | null => {
  const characters = [...text];
  const fields: TlvField[] = [];
  for (let at = 0; at < characters.length; ) {
    const id = characters.slice(at, at + 2).join('');
    const length = characters.slice(at + 2, at + 4).join('');
    if (!TWO_DIGITS.test(id) || !TWO_DIGITS.test(length) || length === '00') return null;
    const end = at + 4 + Number(length);
    if (end > characters.length) return null;
    fields.push({ id, value: characters.slice(at + 4, end).join('') });
    at = end;
  }
  return fields;
};

/** Returns the fields by id, or null if the text is empty, not TLV, or its ids don’t strictly ascend. */
export const parseAscendingTlv = (text: string): ReadonlyMap<string, string> | null => {
  const fields = parseTlv(text);
  if (fields === null || fields.length === 0) return null;
  if (fields.some(({ id }, i) => i > 0 && id <= fields[i - 1]!.id)) return null;
  return new Map(fields.map(({ id, value }) => [id, value]));
};
