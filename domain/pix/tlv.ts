// EMV tag-length-value text: 2-digit id, 2-digit length, value. Lengths count characters (code points), not bytes.

const TLV_VALUE_MAX = 99;
const TWO_DIGITS = /^[0-9]{2}$/;

/** Code points, which are what is counted; a pair of surrogates is one. */
const charactersOf = (text: string): number => {
  let characters = text.length;
  for (let at = 1; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) characters--;
  return characters;
};

/** One field as text. Throws RangeError when the id is not two digits or the value is not of 1 to 99 characters. */
export const encodeTlv = (id: string, value: string): string => {
  const length = charactersOf(value);
  if (!TWO_DIGITS.test(id) || length < 1 || length > TLV_VALUE_MAX)
    throw new RangeError(`TLV field ${id} with ${length} characters`);
  return id + String(length).padStart(2, '0') + value;
};
