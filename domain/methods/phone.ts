// Phone numbers in international format (ITU-T E.164).

const E164 = /^\+[1-9][0-9]{7,14}$/;

/** Returns whether the text is `+` and 8 to 15 ASCII digits without spaces, the first of them not 0 (rule P2). */
export const isE164 = (text: string): boolean => E164.test(text);
