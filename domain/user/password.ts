// Password rules: minimum and maximum length, any characters (NIST SP 800-63B: no composition rules).
export const PASSWORD_LENGTH = { min: 12, max: 128 } as const;

/** Returns the problem as "must …", or null if the password is valid. Counts Unicode code points in composed form (NFC). */
export const passwordProblem = (password: string): string | null => {
  const { length } = [...password.normalize('NFC')];
  const { min, max } = PASSWORD_LENGTH;
  return length >= min && length <= max ? null : `must have ${min} to ${max} characters`;
};
