// Formats the numbers of a boleto for people (FEBRABAN, "Layout padrão de cobrança").

/** Returns 47 digits as `00190.50095 40144.816069 06809.350314 3 37370000000100`. Throws RangeError for anything else. */
export const formatBoletoLine = (line: string): string => {
  const fields = /^(\d{5})(\d{5})(\d{5})(\d{6})(\d{5})(\d{6})(\d)(\d{14})$/.exec(line)?.slice(1);
  if (!fields) throw new RangeError(`not the 47 digits of a boleto: ${line}`);
  const [a, b, c, d, e, f, check, rest] = fields;
  return `${a}.${b} ${c}.${d} ${e}.${f} ${check} ${rest}`;
};

/** Returns the bank's three digits with their modulo-11 check digit, as in `237-2`. A check digit of 10 becomes 0. */
export const formatBankCode = (bank: string): string => {
  const [a = 0, b = 0, c = 0] = [...bank].map(Number);
  const rest = (4 * a + 3 * b + 2 * c) % 11;
  return `${bank}-${rest < 2 ? 0 : 11 - rest}`;
};
