// What a password must be: long enough and not endless, of any characters (NIST SP 800-63B: no rules of composition).
export const PASSWORD_LENGTH = { min: 12, max: 128 } as const;

/** Returns what is wrong with it: "must …"; null when it is one. Characters are counted as Unicode code points in composed form (NFC). */
export const passwordProblem = (password: string): string | null => {
  const { length } = [...password.normalize('NFC')];
  const { min, max } = PASSWORD_LENGTH;
  return length >= min && length <= max ? null : `must have ${min} to ${max} characters`;
};
