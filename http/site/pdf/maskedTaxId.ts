// Tax ids on documents. Anyone with the link can recognize the payer but can't see the tax id.

/**
 * Returns a CPF (11 digits without punctuation) as `***.456.789-**` and a CNPJ (12 digits or letters and 2 digits) as `**.345.678/****-**`.
 * Returns null for anything else. Check digits are not verified.
 */
export const maskedTaxId = (document: string): string | null => {
  const bare = document.replace(/[^0-9A-Za-z]/g, '').toUpperCase();
  if (/^\d{11}$/.test(bare)) return `***.${bare.slice(3, 6)}.${bare.slice(6, 9)}-**`;
  if (/^[0-9A-Z]{12}\d{2}$/.test(bare)) return `**.${bare.slice(2, 5)}.${bare.slice(5, 8)}/****-**`;
  return null;
};

/** Returns the receiver's number as on Pix receipts: a CNPJ in full (`12.ABC.345/01DE-35`), since it is public; a CPF masked. */
export const shownTaxId = (taxId: string): { readonly kind: 'CPF' | 'CNPJ'; readonly text: string | null } =>
  taxId.length === 11
    ? { kind: 'CPF', text: maskedTaxId(taxId) }
    : { kind: 'CNPJ', text: taxId.replace(/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5') };
