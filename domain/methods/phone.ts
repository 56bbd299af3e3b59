// Phone numbers as the world writes them (ITU-T E.164).

const E164 = /^\+[1-9][0-9]{7,14}$/;

/** `+` and 8 to 15 ASCII digits, the first not 0; no marks and no spaces (rule P2). */
export const isE164 = (text: string): boolean => E164.test(text);
